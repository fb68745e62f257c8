/** Words about the site itself: no network, plain http, a new version. */

export const SITE_STRINGS = {
  offline: {
    short: 'Offline',
    long: 'This computer is offline. The shipped model, the built-in games, your kept runs and downloads work. Models that are not stored yet, OpenEnv servers elsewhere, signing in and publishing need a network.',
  },
  untrusted: {
    short: 'No https',
    long: 'This page was opened over plain http from another machine. Browsers keep threads, WebGPU, storage for models and the Hub’s sign-in from such a page: it trains on one WASM thread, and a model of the Hub is downloaded anew each time. Open it over https, or at localhost on the machine that serves it, to have them.',
  },
  update: {
    short: 'New version',
    ready: 'A new version of this page is ready. A run that is kept can be resumed after the reload.',
    busy: 'A new version of this page is ready. It can be used when the run is paused or has ended.',
    reload: 'Reload',
  },
} as const
