/** Serves the project to a browser test: the sources through Vite's dev server, or a built folder as a static host would. */

import { createHash } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build, createServer, mergeConfig, preview, type Plugin } from 'vite'
import { ISOLATION_HEADERS } from '../../src/service-worker/isolation'
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

/** Stands in a build for the address of the Hub, which only its server knows. */
const HUB_TO_COME = 'http://hub.to.come.invalid:1'

/**
 * The page as people get it: built once for a state of the sources, and served on a free port. It opens in half the time that the dev
 * server takes, which many tests wait for.
 */
export async function startSite(options: ServerOptions = {}): Promise<RunningServer> {
  const { hub } = options
  const outDir = await withLock('site', () => builtSite(hub === undefined ? 'site' : 'site-with-hub', hub === undefined ? undefined : HUB_TO_COME))
  return serveDist({ ...options, outDir })
}

/** Builds into .cache/NAME unless what lies there was built from these very files. */
async function builtSite(name: string, hub: string | undefined): Promise<string> {
  const outDir = join(projectRoot, '.cache', name)
  const stamp = `${outDir}.sha256`
  const wanted = await fingerprint(['src', 'public', 'e2e/tools', 'index.html', 'vite.config.ts', 'package-lock.json'])
  if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return outDir
  if (hub !== undefined) process.env.VITE_HUB_ENDPOINT = hub
  await buildSite(outDir).finally(() => delete process.env.VITE_HUB_ENDPOINT)
  await writeFile(stamp, wanted)
  return outDir
}

/** Of names, sizes and times of files and of all that lies in folders. */
async function fingerprint(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  const add = async (path: string): Promise<void> => {
    const found = await stat(path)
    if (!found.isDirectory()) return void hash.update(`${path} ${found.size} ${found.mtimeMs}\n`)
    for (const name of (await readdir(path)).sort()) await add(join(path, name))
  }
  for (const path of paths) await add(join(projectRoot, path))
  return hash.digest('hex')
}

/** Writes the Hub's address into the programs of a build that waits for it. */
function hubPlugin(folder: string, hub: string): Plugin {
  return {
    name: 'hub-address',
    configurePreviewServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const path = new URL(request.url ?? '/', 'http://localhost').pathname
        if (!path.endsWith('.js')) return next()
        readFile(join(folder, path), 'utf8').then(
          (text) => {
            for (const [name, value] of Object.entries(ISOLATION_HEADERS)) response.setHeader(name, value)
            response.setHeader('Content-Type', 'text/javascript')
            response.end(text.replaceAll(HUB_TO_COME, hub))
          },
          () => next(),
        )
      })
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
      plugins: options.hub === undefined ? [] : [hubPlugin(resolve(projectRoot, options.outDir ?? 'dist'), options.hub)],
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
