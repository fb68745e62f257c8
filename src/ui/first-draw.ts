/** What may wait until the page has drawn itself for the first time: it must not compete with that for the network and the processor. */

let over: Promise<void> = Promise.resolve()

/** Called once, before anything is drawn; whoever asks later waits for `drawn`, and no longer than `most` ms. */
export function holdUntil(drawn: Promise<unknown>, most: number): void {
  over = Promise.race([drawn.then(() => undefined, () => undefined), new Promise<void>((resolve) => setTimeout(resolve, most))])
}

/** Resolves when the page has drawn itself; at once where nothing was held. */
export function firstDrawOver(): Promise<void> {
  return over
}

/** The same load, which begins only once the page has drawn itself. */
export function afterFirstDraw<T>(load: () => Promise<T>): () => Promise<T> {
  return () => firstDrawOver().then(load)
}
