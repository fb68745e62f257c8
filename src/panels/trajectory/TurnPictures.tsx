/** What a server sent to be looked at after one turn, small, beneath the turn's tokens. */

import { memo } from 'react'
import { readServerScene } from '../environment/server-scene'
import { Pictures } from '../environment/ServerScene'

/** Nothing for scenes without pictures and boards. Not drawn again for every token that comes in: a scene may be long. */
export const TurnPictures = memo(function TurnPictures({ scene }: { scene: unknown }) {
  const read = readServerScene(scene)
  if (!read) return null
  return (
    <div className="turn-pictures" data-testid="turn-pictures">
      <Pictures of={read} />
    </div>
  )
})
