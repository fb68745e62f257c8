/** Plain data ↔ gzipped JSON, by the browser's own streams. */

const through = (bytes: BlobPart, stream: CompressionStream | DecompressionStream): Promise<ArrayBuffer> =>
  new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer()

/** Whatever JSON can hold: numbers must be finite. */
export function gzipJson(value: unknown): Promise<ArrayBuffer> {
  return through(JSON.stringify(value), new CompressionStream('gzip'))
}

/** What gzipJson packed; of our own making, so its type is believed. */
export async function gunzipJson<T>(bytes: ArrayBuffer): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream('gzip')))) as T
}
