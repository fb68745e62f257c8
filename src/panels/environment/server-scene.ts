/** Reads what a server sent to be looked at: pictures, and boards as cells. */

import { z } from 'zod/mini'

const picture = z.object({
  name: z.string(),
  width: z.number(),
  height: z.number(),
  mime: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  // Base64 alone: nothing else can stand in the address of an image.
  data: z.string().check(z.regex(/^[A-Za-z0-9+/]+=*$/)),
})
const board = z.object({ name: z.string(), cells: z.array(z.array(z.string()).check(z.maxLength(200))).check(z.maxLength(200)) })
const serverScene = z.object({
  kind: z.literal('openenv'),
  images: z._default(z.catch(z.array(picture), []), []),
  boards: z._default(z.catch(z.array(board), []), []),
})

export interface ServerPictures {
  images: z.infer<typeof picture>[]
  boards: z.infer<typeof board>[]
}

/** null for scenes of another kind, and for observations that are text alone. */
export function readServerScene(scene: unknown): ServerPictures | null {
  const read = serverScene.safeParse(scene)
  if (!read.success) return null
  const { images, boards } = read.data
  return images.length + boards.length > 0 ? { images, boards } : null
}
