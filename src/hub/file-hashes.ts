/** The two hashes by which the Hub names a file: sha256 of one in LFS, Git's sha1 of a small one. */

import type { IHasher } from 'hash-wasm'

/** Hex sha256 of the content. */
export async function lfsHash(content: Blob): Promise<string> {
  const { createSHA256 } = await import('hash-wasm')
  return digest((await createSHA256()).init(), content)
}

/** Hex id that Git gives a blob of this content. */
export async function gitBlobHash(content: Blob): Promise<string> {
  const { createSHA1 } = await import('hash-wasm')
  return digest((await createSHA1()).init().update(`blob ${content.size}\0`), content)
}

async function digest(hasher: IHasher, content: Blob): Promise<string> {
  const reader = content.stream().getReader()
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) hasher.update(value as Uint8Array)
  return hasher.digest('hex')
}
