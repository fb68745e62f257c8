/** The files of one version of the site, kept in the browser's Cache Storage under their content hashes. */

import { isolated } from './isolation'
import type { SiteManifest } from './messages'

export interface SiteFilesOptions {
  /** Address of the site's folder, with the last slash. */
  scope: string
  caches: CacheStorage
  fetch: (url: string, init?: RequestInit) => Promise<Response>
}

/** Path below the site's folder that a request asks for ('' for the start page); null when it is none of the service worker's business. */
export function ownPath({ method, url, headers }: Pick<Request, 'method' | 'url' | 'headers'>, scope: string): string | null {
  if (method !== 'GET' || headers.has('Authorization') || headers.has('Range')) return null
  const { origin, pathname } = new URL(url)
  const site = new URL(scope)
  if (origin !== site.origin || !pathname.startsWith(site.pathname)) return null
  const path = pathname.slice(site.pathname.length)
  return path === 'index.html' ? '' : path
}

export class SiteFiles {
  private readonly prefix: string
  private readonly name: string
  private readonly coming = new Map<string, Promise<boolean>>()

  constructor(
    private readonly manifest: SiteManifest,
    private readonly options: SiteFilesOptions,
  ) {
    // Other sites of the same host share its Cache Storage.
    this.prefix = `grpo-playground ${new URL(options.scope).pathname} `
    this.name = this.prefix + manifest.version
  }

  /** Whether `answer` has something to say about this path. */
  knows(path: string): boolean {
    return this.lists(path) || path.startsWith('assets/')
  }

  /** The kept file with the isolation headers; fetched and kept first where it is missing. Rejects where `fallback` does. */
  async answer(path: string, fallback: () => Promise<Response>): Promise<Response> {
    if (this.lists(path)) {
      const kept = (await this.kept(path)) ?? ((await this.take(path).catch(() => false)) ? await this.kept(path) : undefined)
      return kept ?? isolated(await fallback())
    }
    // A tab that still runs an older version loads its parts late.
    return (await this.fromOlder(path)) ?? isolated(await fallback())
  }

  /**
   * Keeps every file of this version that is not kept yet. A file that the host does not have is left out.
   * @throws when a file could not be fetched or is not what was built; what came before stays kept
   */
  async keepAll(): Promise<void> {
    for (const path of Object.keys(this.manifest.files)) {
      // The host may have put something of its own into the start page, and may put another thing there tomorrow.
      if (path === '' || (await this.kept(path)) === undefined) await this.take(path)
    }
  }

  /** Forgets what other versions of this site kept. */
  async forgetOthers(): Promise<void> {
    for (const name of await this.others()) await this.options.caches.delete(name)
  }

  /** Forgets everything that any version of this site kept. */
  async forgetAll(): Promise<void> {
    for (const name of [...(await this.others()), this.name]) await this.options.caches.delete(name)
  }

  private lists(path: string): boolean {
    return Object.hasOwn(this.manifest.files, path)
  }

  private async others(): Promise<string[]> {
    return (await this.options.caches.keys()).filter((name) => name.startsWith(this.prefix) && name !== this.name)
  }

  private key(path: string): string {
    return `${this.options.scope}${path}?${encodeURIComponent(this.manifest.files[path] ?? '')}`
  }

  private kept(path: string): Promise<Response | undefined> {
    return this.options.caches.match(this.key(path), { cacheName: this.name })
  }

  private async fromOlder(path: string): Promise<Response | undefined> {
    for (const cacheName of await this.others()) {
      const found = await this.options.caches.match(`${this.options.scope}${path}`, { cacheName, ignoreSearch: true })
      if (found) return found
    }
    return undefined
  }

  /** Keeps one file, once however many ask; false when the host has none or one of another version. */
  private take(path: string): Promise<boolean> {
    const coming = this.coming.get(path) ?? this.bring(path).finally(() => this.coming.delete(path))
    this.coming.set(path, coming)
    return coming
  }

  private async bring(path: string): Promise<boolean> {
    const cache = await this.options.caches.open(this.name)
    for (const cacheName of path === '' ? [] : await this.others()) {
      const same = await this.options.caches.match(this.key(path), { cacheName })
      if (same) return cache.put(this.key(path), same).then(() => true)
    }
    // Hosts add their own to pages (a Space its OAuth client id), so the start page is known by the program it names.
    const integrity = path === '' ? {} : { integrity: this.manifest.files[path] }
    const response = await this.options.fetch(this.options.scope + path, { cache: 'no-cache', ...integrity })
    if (!response.ok) return false
    if (path === '' && !(await response.clone().text()).includes(this.manifest.entry)) return false
    await cache.put(this.key(path), isolated(response))
    return true
  }
}
