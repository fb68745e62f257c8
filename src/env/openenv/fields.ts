/** An observation's fields: any JSON object. */

export type Fields = Record<string, unknown>
