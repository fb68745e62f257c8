/** The words of the recorded run that the page shows before there is one of its own. */

export const REPLAY_STRINGS = {
  name: 'Recorded run',
  badge: 'recorded run',
  ready: 'Recorded run · press Train for yours',
  hint: 'A run that this page’s own program trained earlier, with the settings you see. Train begins a run of your own in its place.',
  scrub: 'Place in the recorded run',
  beginning: 'Before the first step',
  ended: (steps: number) => `All ${steps} steps are done`,
  place: (sentence: string, steps: number) => `${sentence} · of ${steps} steps`,
} as const
