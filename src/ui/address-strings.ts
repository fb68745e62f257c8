/** The words around a server's address: what was understood, what a link waits for, what connecting would end. */

export const ADDRESS_STRINGS = {
  hint: 'Space owner/name or localhost:8000',
  connect: 'Connect',
  /** Before anything is contacted. */
  consent: (url: string) => `This link names the server ${url}. Nothing connects to it until you press Connect.`,
  ends: (steps: number) =>
    `Connecting starts over: the run${steps === 0 ? '' : ` of ${steps === 1 ? 'one step' : `${steps} steps`}`} ends and what its LoRA has learned is lost.`,
  confirm: 'Connect and start over',
  keep: 'Keep the run',
} as const
