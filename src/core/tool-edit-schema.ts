/** A tool edit as it comes in from outside, in a link or a file. */

import { z } from 'zod'

/** Parses to a ToolEdit of tool-edits.ts; unknown fields are refused. */
export const toolEditSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('rename'), tool: z.string(), name: z.string() }),
  z.strictObject({ kind: z.literal('describe'), tool: z.string(), parameter: z.string().optional(), description: z.string() }),
  z.strictObject({
    kind: z.literal('restrict'),
    tool: z.string(),
    parameter: z.string(),
    enum: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  }),
  z.strictObject({ kind: z.literal('hide'), tool: z.string() }),
])
