/** A Vite plugin: of KaTeX's fonts only the WOFF2 files are shipped. Every browser that runs this page reads them. */

import type { Plugin } from 'vite'

/** Before Vite looks at the style sheet's addresses, the older formats are gone from it. */
export function woff2Only(): Plugin {
  return {
    name: 'woff2-only',
    enforce: 'pre',
    transform: {
      filter: { id: /[\\/]katex[\\/]dist[\\/].*\.css/ },
      handler: (code) => withoutOldFonts(code),
    },
  }
}

/** The style sheet without the sources in WOFF and TrueType that stand behind the WOFF2 one. */
export function withoutOldFonts(css: string): string {
  return css.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("(?:woff|truetype)"\)/g, '')
}
