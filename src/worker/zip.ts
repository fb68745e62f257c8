/** Several files as one zip archive. */

import { zipSync, type Zippable } from 'fflate'
import type { ExportFile } from '../core/run-record'

/** Tensors, Parquet and pictures do not get smaller. */
const INCOMPRESSIBLE = /\.(safetensors|parquet|png)$/

export async function bytesOfFile({ content }: ExportFile): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof content === 'string') return new TextEncoder().encode(content)
  return content instanceof Blob ? new Uint8Array(await content.arrayBuffer()) : content
}

/** `folder` holds the files inside the archive. Throws when two files have one path. */
export async function zipFiles(folder: string, files: readonly ExportFile[]): Promise<Blob> {
  const tree: Zippable = {}
  for (const file of files) {
    const path = `${folder}/${file.path}`
    if (path in tree) throw new Error(`Two files of the archive are called ${path}.`)
    tree[path] = [await bytesOfFile(file), { level: INCOMPRESSIBLE.test(path) ? 0 : 6 }]
  }
  return new Blob([zipSync(tree)], { type: 'application/zip' })
}
