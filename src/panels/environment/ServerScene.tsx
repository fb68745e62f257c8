/** What a server sent to be looked at: its pictures, and its boards as tables of cells. */

import { z } from 'zod'
import { S } from '../../ui/strings'

const picture = z.object({
  name: z.string(),
  width: z.number(),
  height: z.number(),
  mime: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  // Base64 alone: nothing else can stand in the address of an image.
  data: z.string().regex(/^[A-Za-z0-9+/]+=*$/),
})
const board = z.object({ name: z.string(), cells: z.array(z.array(z.string()).max(200)).max(200) })
const serverScene = z.object({
  kind: z.literal('openenv'),
  images: z.array(picture).catch([]).default([]),
  boards: z.array(board).catch([]).default([]),
})

/** Narrower pictures are drawn larger than they are. */
const FEW_PIXELS = 160

/** Nothing for scenes of another kind, and for observations that are text alone. */
export function ServerScene({ scene }: { scene: unknown }) {
  const read = serverScene.safeParse(scene)
  if (!read.success) return null
  const { images, boards } = read.data
  return (
    <>
      {images.map(({ name, width, height, mime, data }, i) => (
        <figure key={`image-${i}`} className="server-scene" data-testid="server-image">
          <img className={width <= FEW_PIXELS ? 'few-pixels' : undefined} src={`data:${mime};base64,${data}`} alt={S.environment.picture(name, width, height)} />
          <figcaption>{S.environment.picture(name, width, height)}</figcaption>
        </figure>
      ))}
      {boards.map(({ name, cells }, i) => (
        <figure key={`board-${i}`} className="server-scene" data-testid="server-board">
          <table>
            <tbody>
              {cells.map((row, y) => (
                <tr key={y}>
                  {row.map((cell, x) => (
                    <td key={x}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          <figcaption>{name}</figcaption>
        </figure>
      ))}
    </>
  )
}
