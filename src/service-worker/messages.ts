/** What the page and the service worker say to each other, and what the build tells the service worker. */

/** Page → service worker. */
export type SiteCommand =
  /** Keep what is missing of this version, so that the page opens without a network; forget what older versions kept. */
  | { type: 'keep' }
  /** The person wants the new version now: it need not wait until all tabs are closed. */
  | { type: 'take-over' }

/** The built site, as the build wrote it. */
export interface SiteManifest {
  /** Changes whenever a file changes. */
  version: string
  /** Path of the start page's program; a start page that names another is of another version. */
  entry: string
  /** Path below the site's folder → its hash, as `integrity` takes it. The start page is ''. Small files come first. */
  files: Readonly<Record<string, string>>
}
