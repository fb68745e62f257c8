/** A WebSocket class that keeps what OpenEnv servers say, as it came over the wire. */

import WebSocket from 'ws'

/** What one socket's server said, as it came over the wire. */
export interface Wire {
  episode: string | null
  texts: string[]
  rewards: unknown[]
}

interface Frame {
  type?: string
  data?: { reward?: unknown; done?: boolean; episode_id?: string; observation?: { text?: string; result?: { data?: string } } }
}

/** The class, and one entry for each socket that it made. */
export function recorder() {
  const wires: Wire[] = []
  class Recorded extends WebSocket {
    private readonly wire: Wire = { episode: null, texts: [], rewards: [] }
    constructor(url: string) {
      super(url)
      wires.push(this.wire)
      this.on('message', (raw: Buffer) => {
        const { data } = JSON.parse(raw.toString()) as Frame
        if (!data?.observation || !('reward' in data)) return
        const { text, result } = data.observation
        this.wire.texts.push(text ?? result?.data ?? '')
        this.wire.rewards.push(data.reward)
      })
    }
    override send(frame: string): void {
      const { data } = JSON.parse(frame) as Frame
      if (data?.episode_id !== undefined) this.wire.episode = data.episode_id
      super.send(frame)
    }
  }
  return { wires, Recorded }
}

/** Sockets on which this episode was played; more than one when its step was tried again. */
export const wireOf = (wires: readonly Wire[], { step, index }: { step: number; index: number }): Wire[] =>
  wires.filter(({ episode }) => episode?.endsWith(`step${step}-episode${index}`))
