/** What `npm run build` adds to the site: the service worker with the hashes of all files, and what hosts read (a Space's front matter, headers). */

import { createHash } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin, type ResolvedConfig } from 'vite'
import { ISOLATION_HEADERS } from '../../src/service-worker/isolation.ts'
import type { SiteManifest } from '../../src/service-worker/messages.ts'

/** Vite's plugin; it acts on builds whose start page is the repository's index.html. */
export function ship(): Plugin {
  let config: ResolvedConfig
  return {
    name: 'ship',
    apply: 'build',
    configResolved: resolved => {
      config = resolved
    },
    writeBundle: {
      // The last one: everything else has been written.
      order: 'post',
      sequential: true,
      async handler({ dir }, bundle) {
        const entry = Object.values(bundle).find(part => part.type === 'chunk' && part.isEntry && part.facadeModuleId === join(config.root, 'index.html'))
        if (dir === undefined || entry === undefined) return
        for (const [name, text] of Object.entries(hostFiles())) await writeFile(join(dir, name), text)
        const manifest = await siteManifest(dir, entry.fileName)
        await writeFile(join(dir, 'sw.js'), await serviceWorker(config.root, manifest))
      },
    },
  }
}

/** Files that a host or a reader of the repository looks at, and a page does not need. */
const NOT_KEPT = /^(sw\.js|_headers|\.nojekyll|404\.html|README\.md|deploy\.md|readme\.png)$|\.map$/

/** Nobody asked to keep a model of gigabytes that someone put beside the shipped one. Bytes. */
const LARGEST_KEPT = 64e6

/** Paths and hashes of what a page needs of a built folder, the smallest first. `entry` is the path of the start page's program. */
export async function siteManifest(folder: string, entry: string): Promise<SiteManifest> {
  const all = (await readdir(folder, { recursive: true })).map(path => path.replaceAll('\\', '/'))
  const sized: { path: string; size: number }[] = []
  for (const path of all.filter(path => !NOT_KEPT.test(path))) {
    const facts = await stat(join(folder, path))
    if (facts.isFile() && facts.size <= LARGEST_KEPT) sized.push({ path, size: facts.size })
  }
  sized.sort((a, b) => a.size - b.size || (a.path < b.path ? -1 : 1))
  const files: Record<string, string> = {}
  for (const { path } of sized) files[path === 'index.html' ? '' : path] = `sha256-${sha256(await readFile(join(folder, path)), 'base64')}`
  return { version: sha256(JSON.stringify(files), 'hex').slice(0, 12), entry, files }
}

function sha256(data: Uint8Array | string, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(data).digest(encoding)
}

/** The service worker as one classic script: not every browser takes modules there. */
async function serviceWorker(root: string, manifest: SiteManifest): Promise<string> {
  const built = await build({
    configFile: false,
    root,
    logLevel: 'error',
    publicDir: false,
    define: { __SITE__: JSON.stringify(manifest) },
    build: {
      target: 'es2022',
      write: false,
      rolldownOptions: { input: join(root, 'src/service-worker/worker.ts'), output: { format: 'iife', entryFileNames: 'sw.js' } },
    },
  })
  const chunk = Array.isArray(built) ? built[0]?.output[0] : 'output' in built ? built.output[0] : undefined
  if (chunk === undefined) throw new Error('The service worker was not built.')
  return chunk.code
}

/** What the page may ask a person for; it asks for the first alone unless it is to publish into what was made elsewhere. */
const OAUTH_SCOPES = ['contribute-repos', 'write-repos', 'write-discussions'] as const

/** The front matter of a static Space, key by key; values are YAML. */
function frontMatter(): string {
  const headers = { ...ISOLATION_HEADERS, 'Cross-Origin-Resource-Policy': 'cross-origin' }
  return [
    '---',
    'title: GRPO Playground',
    'emoji: 🛝',
    'colorFrom: yellow',
    'colorTo: blue',
    'sdk: static',
    'app_file: index.html',
    'pinned: false',
    'license: apache-2.0',
    'short_description: Watch a small model learn by RL in your own browser',
    'hf_oauth: true',
    'hf_oauth_scopes:',
    ...OAUTH_SCOPES.map(scope => `  - ${scope}`),
    'hf_oauth_expiration_minutes: 480',
    'custom_headers:',
    ...Object.entries(headers).map(([name, value]) => `  ${name.toLowerCase()}: ${value}`),
    '---',
  ].join('\n')
}

/** What only hosts and readers of the repository look at: file name → text. */
export function hostFiles(): Record<string, string> {
  const headers = Object.entries(ISOLATION_HEADERS).map(([name, value]) => `  ${name}: ${value}`)
  return {
    'README.md': `${frontMatter()}\n\n# GRPO Playground\n\nThe built page: a small language model learns by reinforcement learning in your browser. How it is put on a host: [deploy.md](deploy.md).\n`,
    // Netlify and Cloudflare Pages read it.
    _headers: `/*\n${headers.join('\n')}\n\n/assets/*\n  Cache-Control: public, max-age=31536000, immutable\n`,
    // Without it, some hosts answer for a missing file with the start page, in the shape of a model.
    '404.html': '<!doctype html><meta charset="utf-8" /><title>Not found</title><p>GRPO Playground has no page here.</p>\n',
    // GitHub Pages would leave out names that begin with an underscore.
    '.nojekyll': '',
  }
}
