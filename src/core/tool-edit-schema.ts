/** A tool edit as it comes in from outside, in a link or a file. */

import { z } from 'zod/mini'

/** Parses to a ToolEdit of tool-edits.ts; unknown fields are refused. */
export const toolEditSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('rename'), tool: z.string(), name: z.string() }),
  z.strictObject({ kind: z.literal('describe'), tool: z.string(), parameter: z.optional(z.string()), description: z.string() }),
  z.strictObject({
    kind: z.literal('restrict'),
    tool: z.string(),
    parameter: z.string(),
    enum: z.optional(z.array(z.union([z.string(), z.number(), z.boolean()]))),
    minimum: z.optional(z.number()),
    maximum: z.optional(z.number()),
  }),
  z.strictObject({ kind: z.literal('hide'), tool: z.string() }),
])
