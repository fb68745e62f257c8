/** What the environment showed after one turn, small, beside the turn's tokens: road, board, picture. */

import { memo, useMemo } from 'react'
import { readServerScene } from '../environment/server-scene'
import { readScene } from '../task/scene'
import { SceneView } from '../task/SceneView'

/** Nothing for scenes that cannot be drawn. Not drawn again for every token that comes in: a scene may be long. */
export const TurnPictures = memo(function TurnPictures({ scene }: { scene: unknown }) {
  const drawable = useMemo(() => readScene(scene) !== null || readServerScene(scene) !== null, [scene])
  if (!drawable) return null
  return (
    <div className="turn-pictures" data-testid="turn-pictures">
      <SceneView scene={scene} />
    </div>
  )
})
