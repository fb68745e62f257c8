/** A formula by KaTeX, with MathML for screen readers. Loaded when first needed: KaTeX and its fonts are no part of the first paint. */

import katex from 'katex'
import 'katex/dist/katex.min.css'
import { memo, useMemo } from 'react'

interface TexProps {
  /** Of our own making: KaTeX runs without trust, and what a person or a model wrote is no formula. */
  tex: string
}

/** One displayed formula. A mistake in `tex` is drawn as its source, not thrown. */
const Tex = memo(function Tex({ tex }: TexProps) {
  const html = useMemo(() => katex.renderToString(tex, { displayMode: true, output: 'htmlAndMathml', throwOnError: false }), [tex])
  return <div className="tex" dangerouslySetInnerHTML={{ __html: html }} />
})

export default Tex
