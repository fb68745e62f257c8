/** Serves the project to a browser test: the sources through Vite's dev server, or a built folder as a static host would. */

import { join, resolve } from 'node:path'
import { build, createServer, mergeConfig, preview } from 'vite'
import { withLock } from '../tools/lock'
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
  /** Endpoint of another server that speaks the Hub's API, for the page instead of huggingface.co. */
  hub?: string
}

/**
 * Vite's dev server on a free port: any TypeScript module of the repository can be imported by its path. Files are read
 * when asked for and never watched, so an edit cannot reload a page in the middle of a test. Packages that must be
 * pre-bundled (CommonJS) have to stand in vite.config.ts's `include`: here none is discovered late.
 */
export async function startDevServer(options: ServerOptions = {}): Promise<RunningServer> {
  // Shared by all test servers, but not with `npm run dev`, whose list of dependencies may differ. The lock keeps two
  // first servers from writing it at the same time.
  const server = await withLock('vite-e2e', async () => {
    const config = appConfig(options.isolated ?? true)
    // Vite takes it from the environment, once; as a `define` it would have all dependencies bundled anew.
    if (options.hub !== undefined) process.env.VITE_HUB_ENDPOINT = options.hub
    const created = await createServer({
      ...config,
      configFile: false,
      root: projectRoot,
      cacheDir: join(projectRoot, '.cache/vite-e2e'),
      logLevel: 'error',
      clearScreen: false,
      optimizeDeps: { ...config.optimizeDeps, noDiscovery: true },
      server: { ...config.server, port: 0, host: 'localhost', hmr: false, watch: null },
    })
    delete process.env.VITE_HUB_ENDPOINT
    await created.listen()
    const optimizer = created.environments.client.depsOptimizer
    await Promise.all((optimizer?.metadata.depInfoList ?? []).map(dependency => dependency.processing ?? Promise.resolve()))
    return created
  })
  return { url: addressOf(server.resolvedUrls), close: () => server.close() }
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
  // vitest says 'test', and Vite would make a development build of it.
  const mode = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  try {
    await build(
      mergeConfig(appConfig(true), {
        configFile: false,
        root: projectRoot,
        logLevel: 'error',
        build: { outDir, emptyOutDir: true, rolldownOptions: { input: join(projectRoot, html) } },
      }),
    )
  } finally {
    if (mode === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = mode
  }
}

function addressOf(urls: { local: string[] } | null): string {
  const url = urls?.local[0]
  if (url === undefined) throw new Error('The Vite server did not say where it listens.')
  return url
}
