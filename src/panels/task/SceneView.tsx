/** Draws a scene small: the road of lane, the board of catch, the words of echo, a server's pictures and boards. */

import { useMemo } from 'react'
import { ServerScene } from '../environment/ServerScene'
import { type CatchScene, type LaneScene, describeScene, readScene } from './scene'

/** Nothing for scenes of environments we do not know. */
export function SceneView({ scene }: { scene: unknown }) {
  const known = useMemo(() => readScene(scene), [scene])
  if (!known) return <ServerScene scene={scene} />
  const label = describeScene(known)
  return (
    <figure className="scene" data-testid="scene">
      {known.kind === 'lane' && <Lane scene={known} label={label} />}
      {known.kind === 'catch' && <Catch scene={known} label={label} />}
      <figcaption>{label}</figcaption>
    </figure>
  )
}

const ROAD = { width: 240, height: 66, lane: 22, car: 28 }
/** Metres that fit on the drawn road. */
const VIEW = 110

/** Seen from above, driving to the right; the left lane is the upper one. */
function Lane({ scene, label }: { scene: LaneScene; label: string }) {
  const middleOf = (row: number) => row * ROAD.lane + ROAD.lane / 2
  const row = { left: 0, middle: 1, right: 2 }[scene.lane]
  const scale = (ROAD.width - ROAD.car - 24) / VIEW
  const thing = ROAD.car + 10 + scene.distance * scale
  const stopping = ROAD.car + 10 + Math.min(VIEW, scene.speed) * scale
  const taken = (['left', 'right'] as const).filter((lane) => scene.free !== lane)
  return (
    <svg viewBox={`0 0 ${ROAD.width} ${ROAD.height}`} role="img" aria-label={label}>
      <rect className="scene-road" width={ROAD.width} height={ROAD.height} />
      {[1, 2].map((i) => (
        <line key={i} className="scene-lane" x1="0" x2={ROAD.width} y1={i * ROAD.lane} y2={i * ROAD.lane} />
      ))}
      <line className="scene-reach" x1={ROAD.car + 10} x2={stopping} y1={middleOf(1)} y2={middleOf(1)} />
      <line className="scene-reach" x1={stopping} x2={stopping} y1={middleOf(1) - 6} y2={middleOf(1) + 6} />
      {taken.map((lane) => (
        <rect
          key={lane}
          className="scene-other"
          x={ROAD.car + 4}
          y={middleOf(lane === 'left' ? 0 : 2) - 6}
          width={ROAD.car}
          height="12"
          rx="3"
        />
      ))}
      <circle className="scene-thing" cx={thing} cy={middleOf(1)} r="5.5" />
      <rect className="scene-car" x="6" y={middleOf(row) - 6} width={ROAD.car} height="12" rx="3" />
    </svg>
  )
}

const CELL = 13

function Catch({ scene, label }: { scene: CatchScene; label: string }) {
  const { columns, rows } = scene
  const width = columns * CELL
  const height = (rows + 1) * CELL
  const row = Math.max(0, Math.min(rows, rows - scene.height))
  return (
    <svg className="scene-board" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <rect className="scene-road" width={width} height={height} />
      {Array.from({ length: columns - 1 }, (_, i) => (
        <line key={i} className="scene-grid" x1={(i + 1) * CELL} x2={(i + 1) * CELL} y1="0" y2={height} />
      ))}
      <rect className="scene-car" x={scene.paddle * CELL + 1} y={rows * CELL + CELL - 4} width={CELL - 2} height="3" />
      <circle className="scene-thing" cx={(scene.ball + 0.5) * CELL} cy={(row + 0.5) * CELL} r="4" />
    </svg>
  )
}
