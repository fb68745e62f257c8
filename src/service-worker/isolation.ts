/** The two headers that make a page cross-origin isolated, which WASM threads need; added to answers of hosts that send none. */

/** What a host should send with every file. */
export const ISOLATION_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
} as const

/** The same answer with both headers; a value that the host sent itself stays. */
export function isolated(response: Response): Response {
  // A redirect of a navigation, which the browser alone may follow: nothing of it can be read or copied.
  if (response.type === 'opaqueredirect') return response
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(ISOLATION_HEADERS)) if (!headers.has(name)) headers.set(name, value)
  // The body is already unpacked: a kept answer would carry the length of the packed one.
  if (headers.has('Content-Encoding')) for (const name of ['Content-Encoding', 'Content-Length']) headers.delete(name)
  // What is kept here is asked for by its path alone.
  headers.delete('Vary')
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}
