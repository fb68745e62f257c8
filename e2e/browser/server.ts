/** Serves the project to a browser test: the sources through Vite's dev server, or a built folder as a static host would. */

import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build, createServer, mergeConfig, preview } from 'vite'
import { appConfig } from '../../vite.config'

/** The repository's root. */
export const projectRoot = resolve(import.meta.dirname, '../..')

export interface RunningServer {
  /** Ends in a slash: `http://localhost:41234/`. */
  url: string
  close(): Promise<void>
}

export interface ServerOptions {
  /** Send COOP and COEP (default true). Without them there is no SharedArrayBuffer and WASM has one thread. */
  isolated?: boolean
}

/**
 * Vite's dev server on a free port: any TypeScript module of the repository can be imported by its path. Files are read
 * when asked for and never watched, so an edit cannot reload a page in the middle of a test.
 */
export async function startDevServer(options: ServerOptions = {}): Promise<RunningServer> {
  // Two servers that share a cache of optimised dependencies invalidate each other's.
  const cacheDir = join(projectRoot, '.cache', `vite-${process.pid}-${Math.random().toString(36).slice(2, 8)}`)
  const server = await createServer(
    mergeConfig(appConfig(options.isolated ?? true), {
      configFile: false,
      root: projectRoot,
      cacheDir,
      logLevel: 'error',
      clearScreen: false,
      server: { port: 0, strictPort: false, host: 'localhost', hmr: false, watch: null, ws: false },
    }),
  )
  await server.listen()
  return {
    url: addressOf(server.resolvedUrls),
    close: async () => {
      await server.close()
      await rm(cacheDir, { recursive: true, force: true })
    },
  }
}

/** Serves a folder that `vite build` has made (default: dist) on a free port, with the headers of `vite preview`. */
export async function serveDist(options: ServerOptions & { outDir?: string } = {}): Promise<RunningServer> {
  const server = await preview(
    mergeConfig(appConfig(options.isolated ?? true), {
      configFile: false,
      root: projectRoot,
      logLevel: 'error',
      build: { outDir: options.outDir ?? 'dist' },
      preview: { port: 0, strictPort: false, host: 'localhost' },
    }),
  )
  return { url: addressOf(server.resolvedUrls), close: () => server.close() }
}

/** Builds the site (or another html entry of the repository) into `outDir`, minified, as `npm run build` does. */
export async function buildSite(outDir: string, html = 'index.html'): Promise<void> {
  await build(
    mergeConfig(appConfig(true), {
      configFile: false,
      root: projectRoot,
      logLevel: 'error',
      build: { outDir, emptyOutDir: true, rolldownOptions: { input: join(projectRoot, html) } },
    }),
  )
}

function addressOf(urls: { local: string[] } | null): string {
  const url = urls?.local[0]
  if (url === undefined) throw new Error('The Vite server did not say where it listens.')
  return url
}
