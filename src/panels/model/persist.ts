/** Asks the browser to keep this site's files when its disk fills up. Call it on a click. */

/** Whether it promised; null where the browser cannot be asked. */
export async function askToPersist(): Promise<boolean | null> {
  // Missing on insecure origins and in old browsers.
  const storage = (navigator as Partial<Pick<Navigator, 'storage'>>).storage as Partial<StorageManager> | undefined
  if (!storage?.persist) return null
  return storage.persist().catch(() => null)
}

/** Whether it has promised already; null where the browser does not say. */
export async function isPersisted(): Promise<boolean | null> {
  const storage = (navigator as Partial<Pick<Navigator, 'storage'>>).storage as Partial<StorageManager> | undefined
  if (!storage?.persisted) return null
  return storage.persisted().catch(() => null)
}
