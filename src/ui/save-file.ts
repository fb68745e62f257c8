/** Hands a file to the browser's downloads. */

import { DURATIONS } from './durations'

/** By a link to a Blob address, which is given up once the browser has had time to read it. */
export function saveFile(name: string, file: Blob): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.hidden = true
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(address), DURATIONS.revoke)
}
