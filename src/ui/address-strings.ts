/** The words around a server's address: what was understood, what a link waits for, what connecting would end. */

export const ADDRESS_STRINGS = {
  hint: 'owner/name or localhost:8000',
  connect: 'Connect',
  again: 'Connect again',
  /** Before anything is contacted. */
  consent: (url: string) => `This link names the server ${url}. Nothing connects to it until you press Connect.`,
  connected: (host: string, sessions: number | null) =>
    `Connected to ${host}${sessions === null ? '' : ` · at most ${sessions === 1 ? 'one session' : `${sessions} sessions`}`}`,
  /** `connects`: to a server. `kept`: the step that the present run can be loaded at again, null where nothing of it is kept. */
  ends: (kept: number | null, half: boolean, connects = true) =>
    `${connects ? 'Connecting' : 'This'} starts a new run at step 0. ${
      kept === null ? 'The present run has no step that is kept, so it ends for good.' : `The present run stays under Runs, at step ${kept}.`
    }${half && kept !== null ? ' Only the step that has not ended is dropped.' : ''}`,
  endsRecording: (connects = true) =>
    `${connects ? 'Connecting' : 'This'} starts a new run at step 0, in place of the recording. The file that it came from is not touched.`,
  confirm: (connects = true) => (connects ? 'Connect and start over' : 'Use it and start over'),
  keep: 'Keep the run',
} as const
