/** Cache Storage in memory, as far as the service worker uses it; for tests. */

export function memoryCaches(): { caches: CacheStorage; /** Cache name → addresses. */ listing: () => Record<string, string[]> } {
  const stores = new Map<string, Map<string, Response>>()
  const open = async (name: string) => {
    const store = stores.get(name) ?? new Map<string, Response>()
    stores.set(name, store)
    return {
      put: async (url: string, response: Response) => {
        // As a browser does: a body can be kept once, and a status of part of a file not at all.
        if (response.bodyUsed || response.status === 206) throw new TypeError('not to be kept')
        const { status, headers } = response
        store.set(url, new Response(await response.arrayBuffer(), { status, headers }))
      },
    }
  }
  const match = async (url: string, { cacheName, ignoreSearch }: MultiCacheQueryOptions = {}) => {
    const entries = [...(stores.get(cacheName ?? '') ?? [])]
    return entries.find(([key]) => key === url || (ignoreSearch === true && key.split('?')[0] === url))?.[1].clone()
  }
  const caches = { open, match, keys: async () => [...stores.keys()], delete: async (name: string) => stores.delete(name) }
  const listing = () => Object.fromEntries([...stores].map(([name, store]) => [name, [...store.keys()]]))
  return { caches: caches as unknown as CacheStorage, listing }
}
