/** This program's version, as package.json has it; the build writes it in. */

declare const __VERSION__: string | undefined

export const VERSION: string = typeof __VERSION__ === 'string' ? __VERSION__ : 'unbuilt'
