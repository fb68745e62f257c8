/** Reads the scene that an environment sends for drawing; whatever is not one of ours is shown as text instead. */

import { z } from 'zod/mini'

const side = z.enum(['left', 'right'])

const laneScene = z.object({
  kind: z.literal('lane'),
  what: z.string(),
  distance: z.number(),
  speed: z.number(),
  free: z.union([side, z.literal('none')]),
  lane: z.union([side, z.literal('middle')]),
  outcome: z.nullable(z.string()),
})
const catchScene = z.object({
  kind: z.literal('catch'),
  columns: z.int().check(z.gte(1), z.lte(64)),
  rows: z.int().check(z.gte(1), z.lte(64)),
  height: z.number(),
  ball: z.number(),
  paddle: z.number(),
  caught: z.nullable(z.boolean()),
})
const echoScene = z.object({ kind: z.literal('echo'), wanted: z.string(), said: z.nullable(z.string()) })

const knownScene = z.discriminatedUnion('kind', [laneScene, catchScene, echoScene])

export type LaneScene = z.infer<typeof laneScene>
export type CatchScene = z.infer<typeof catchScene>
export type Scene = z.infer<typeof knownScene>

/** Whether an environment of the page shows a drawing in every episode, so that its place can be kept before there is one. */
export function isDrawn(environment: string): environment is 'lane' | 'catch' {
  return environment === 'lane' || environment === 'catch'
}

/** The scene, or null for anything that cannot be drawn. */
export function readScene(value: unknown): Scene | null {
  const result = knownScene.safeParse(value)
  return result.success ? result.data : null
}

/** The scene in words, for those who do not see it. */
export function describeScene(scene: Scene): string {
  switch (scene.kind) {
    case 'lane': {
      const end = scene.outcome === null ? '' : `, ${scene.outcome.replaceAll('-', ' ')}`
      return `A ${scene.what} at distance ${scene.distance}, speed ${scene.speed}, free lane: ${scene.free}${end}`
    }
    case 'catch': {
      const end = scene.caught === null ? '' : scene.caught ? ', caught' : ', missed'
      return `Ball in column ${scene.ball + 1}, height ${scene.height}; paddle in column ${scene.paddle + 1} of ${scene.columns}${end}`
    }
    case 'echo':
      return scene.said === null ? `Asked for "${scene.wanted}"` : `Asked for "${scene.wanted}", said "${scene.said}"`
  }
}
