/** The mean reward of every step of the recorded run, a bar each, behind the handle; the steps that are over are filled. */

import { memo } from 'react'

/** Height of a bar whose reward is the lowest: it is there all the same. */
const LEAST = 0.08

export const RewardBars = memo(function RewardBars({ rewards, done }: { rewards: readonly (number | null)[]; done: number }) {
  const known = rewards.flatMap((reward) => reward ?? [])
  const [low, high] = [Math.min(0, ...known), Math.max(...known, 1e-9)]
  return (
    <svg className="replay-rewards" viewBox={`0 0 ${rewards.length} 1`} preserveAspectRatio="none" aria-hidden="true">
      {rewards.map((reward, i) => {
        if (reward === null) return null
        const height = LEAST + (1 - LEAST) * ((reward - low) / (high - low))
        return <rect key={i} className={i < done ? 'done' : ''} x={i + 0.1} width={0.8} y={1 - height} height={height} />
      })}
    </svg>
  )
})
