/** Plain data ↔ gzipped JSON, by the browser's own streams. */

const through = (bytes: BlobPart, stream: CompressionStream | DecompressionStream): Promise<ArrayBuffer> =>
  new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer()

/** Whatever JSON can hold: numbers must be finite. */
export function gzipJson(value: unknown): Promise<ArrayBuffer> {
  return through(JSON.stringify(value), new CompressionStream('gzip'))
}

/** What gzipJson packed. The type is the caller's word: what may come from elsewhere is `unknown`, and is parsed. */
export async function gunzipJson<T = unknown>(bytes: ArrayBuffer): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream('gzip')))) as T
}
