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

export class PlaygroundError extends Error {
  constructor(
    readonly kind: ErrorKind,
    /** What happened, one sentence, with the offending value. */
    message: string,
    /** What to do next, one sentence. */
    readonly advice = '',
    options?: { cause?: unknown },
  ) {
    super(message, options)
    this.name = 'PlaygroundError'
  }
}

/** The sentence a person reads: message and advice joined; unknown errors become their own text. */
export function describeError(error: unknown): string {
  if (error instanceof PlaygroundError) return error.advice ? `${error.message} ${error.advice}` : error.message
  return error instanceof Error ? error.message : String(error)
}
