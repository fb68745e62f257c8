/** Words about the site itself: no network, a new version. */

export const SITE_STRINGS = {
  offline: {
    short: 'Offline',
    long: 'This computer is offline. The shipped model, the built-in games, your kept runs and downloads work. Models that are not stored yet, OpenEnv servers elsewhere, signing in and publishing need a network.',
  },
  update: {
    short: 'New version',
    ready: 'A new version of this page is ready. A run that is kept can be resumed after the reload.',
    busy: 'A new version of this page is ready. It can be used when the run is paused or has ended.',
    reload: 'Reload',
  },
} as const
