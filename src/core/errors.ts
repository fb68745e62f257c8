/** The one error type that reaches a person: what was wrong, where, and what to do next. */
export type ErrorKind =
  | 'config' // a setting or file that we refuse
  | 'graph' // the compiler refused a graph
  | 'model' // unsupported or damaged model
  | 'environment' // an environment refused, failed or went away
  | 'engine' // runtime failure of the engine
  | 'memory' // an allocation was refused
  | 'device-lost'
  | 'non-finite' // NaN or infinity in a loss, gradient or parameter
  | 'stopped' // a person stopped it

/** 'passing': a lost connection, worth another try. 'lasting': the same request would fail in the same way again. */
export type Recurrence = 'passing' | 'lasting'

export class PlaygroundError extends Error {
  /** Absent where nobody can tell. */
  readonly recurrence?: Recurrence

  constructor(
    readonly kind: ErrorKind,
    /** What happened, one sentence, with the offending value. */
    message: string,
    /** What to do next, one sentence. */
    readonly advice = '',
    options?: { cause?: unknown; recurrence?: Recurrence },
  ) {
    super(message, options)
    this.name = 'PlaygroundError'
    if (options?.recurrence) this.recurrence = options.recurrence
  }
}

/** An environment answered, and we could not read the answer: our failure or a damaged frame, never a reward of 0. */
export class UnreadableReplyError extends PlaygroundError {
  constructor(message: string, advice = '', options?: { cause?: unknown; recurrence?: Recurrence }) {
    super('environment', message, advice, options)
    this.name = 'UnreadableReplyError'
  }
}

/** The sentence a person reads: message and advice joined; unknown errors become their own text. */
export function describeError(error: unknown): string {
  if (error instanceof PlaygroundError) return error.advice ? `${error.message} ${error.advice}` : error.message
  return error instanceof Error ? error.message : String(error)
}

/** Whether the same request would fail in the same way again. */
export function isLasting(error: unknown): boolean {
  return error instanceof PlaygroundError && error.recurrence === 'lasting'
}
