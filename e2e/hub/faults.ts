/** Faults that a test asks the local Hub for, each for the next requests that it fits. */

export type FaultKind =
  /** Cuts the connection after so many bytes of a file's body. */
  | { kind: 'drop'; afterBytes: number }
  /** Delivers so many bytes, then nothing, with the connection open. */
  | { kind: 'stall'; afterBytes: number }
  /** Ends the body early, as if that were all. */
  | { kind: 'truncate'; bytes: number }
  /** Answers a range with 200 and the whole file. */
  | { kind: 'ignore-range' }
  | { kind: 'slow'; bytesPerSecond: number }
  /** From this byte of the file on a byte at a time, ten a second: it is on its way, and not at its end, for as long as a test needs, or until `until`. */
  | { kind: 'creep'; byte: number; until?: Promise<void> }
  /** Adds to both ends of the Content-Range (not to the bytes). */
  | { kind: 'wrong-range'; shift: number }
  /** Claims another size for the whole file. */
  | { kind: 'wrong-size'; size: number }
  /** Turns one byte of the file over, wherever it is asked for. */
  | { kind: 'tamper'; byte: number }
  /** A 200 with a page, as a hotel's sign-in gives. */
  | { kind: 'web-page' }
  /** The CDN says that the signed address has expired. */
  | { kind: 'expired' }
  /** A commit is made, and its answer never arrives. */
  | { kind: 'lost-answer' }
  | { kind: 'status'; status: 401 | 403 | 404 | 409 | 412 | 413 | 429 | 500 | 502 | 503 | 504; retryAfter?: number; message?: string }

export type Fault = FaultKind & {
  /** Only requests whose file or path contains this. */
  on?: string
  /** Only at this origin: the endpoint or the CDN. Both where it is left out; an answer that sends no file takes only a 'status'. */
  at?: 'hub' | 'cdn'
  /** How many requests it spoils; 1. */
  times?: number
}

export class Faults {
  private waiting: { fault: Fault; left: number }[] = []

  add(fault: Fault): void {
    this.waiting.push({ fault, left: fault.times ?? 1 })
  }

  clear(): void {
    this.waiting = []
  }

  /**
   * Takes the first fault that fits, if any. `sendsFile`: bytes of a file are about to go out or come in; else only a
   * 'status' fits. `kind`: only this one.
   */
  take(at: 'hub' | 'cdn', path: string, file: string | null, sendsFile: boolean, kind?: FaultKind['kind']): FaultKind | null {
    const found = this.waiting.find(({ fault, left }) => {
      if (kind !== undefined && fault.kind !== kind) return false
      if (left <= 0 || (fault.at !== undefined && fault.at !== at)) return false
      if (fault.on !== undefined && !path.includes(fault.on) && !file?.includes(fault.on)) return false
      return sendsFile !== (fault.kind === 'status')
    })
    if (!found) return null
    found.left--
    return found.fault
  }
}
