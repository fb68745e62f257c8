/** Copies text for the person who pressed a button. */

/** Rejects where the browser does not allow it. */
export async function copyText(text: string): Promise<void> {
  // Missing on insecure origins.
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (!clipboard) throw new Error('no clipboard')
  await clipboard.writeText(text)
}
