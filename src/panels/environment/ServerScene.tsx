/** What a server sent to be looked at: its pictures, and its boards as tables of cells. */

import { useMemo } from 'react'
import { S } from '../../ui/strings'
import { readServerScene, type ServerPictures } from './server-scene'

/** Narrower pictures are drawn larger than they are. */
const FEW_PIXELS = 160

/** Nothing for scenes of another kind, and for observations that are text alone. */
export function ServerScene({ scene }: { scene: unknown }) {
  // Panels are drawn anew with every token, and pictures are long.
  const read = useMemo(() => readServerScene(scene), [scene])
  return read && <Pictures of={read} />
}

export function Pictures({ of: { images, boards } }: { of: ServerPictures }) {
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
          <table aria-label={name}>
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
