/** The article under the playground: what happens here, GRPO on one page, what is left out, how to go on. */

import { DEFAULT_GRPO } from '../../core/config'
import { Fragment, lazy, Suspense } from 'react'
import { useHidden } from '../../store/hooks'
import { ARTICLE_STRINGS } from '../../ui/article-strings'
import { type SourceKey, SOURCES } from '../../ui/explainers/sources'
import { afterFirstDraw } from '../../ui/first-draw'
import { lossTex } from '../update/formula-tex'
import { type Piece, readMarks } from './marks'
import { showPanel } from './show-panel'

const Tex = lazy(afterFirstDraw(() => import('../../ui/Tex')))

const A = ARTICLE_STRINGS
type FormulaName = keyof typeof A.formulas
const FORMULAS: Record<FormulaName, string> = {
  advantage: 'A_i=\\frac{r_i-\\operatorname{mean}(r_1,\\dots,r_G)}{\\operatorname{std}(r_1,\\dots,r_G)+10^{-4}}',
  loss: lossTex({ ...DEFAULT_GRPO, beta: 0.04, vllm_importance_sampling_correction: false }),
}

export function Article() {
  return (
    <article className="article" aria-labelledby="article-title" data-testid="article">
      <h2 id="article-title">{A.title}</h2>
      {A.sections.map(({ id, title, paragraphs }) => (
        <section key={id} aria-labelledby={`article-${id}`}>
          <h3 id={`article-${id}`}>{title}</h3>
          {paragraphs.map((paragraph, i) => (typeof paragraph === 'string' ? <Paragraph key={i} text={paragraph} /> : <Formula key={i} name={paragraph.formula} />))}
        </section>
      ))}
      <section aria-labelledby="article-references">
        <h3 id="article-references">{A.references.title}</h3>
        <ul>
          {A.references.list.map((key) => (
            <li key={key}>
              <To source={key}>{SOURCES[key].title}</To>
            </li>
          ))}
        </ul>
      </section>
    </article>
  )
}

function Formula({ name }: { name: FormulaName }) {
  return (
    <figure className="article-formula" aria-label={A.formulas[name]}>
      <Suspense fallback={null}>
        <Tex tex={FORMULAS[name]} />
      </Suspense>
    </figure>
  )
}

function Paragraph({ text }: { text: string }) {
  return (
    <p>
      {readMarks(text).map((piece, i) => (
        <Fragment key={i}>{drawn(piece)}</Fragment>
      ))}
    </p>
  )
}

function drawn(piece: Piece) {
  switch (piece.kind) {
    case 'text':
      return piece.text
    case 'strong':
      return <strong>{piece.text}</strong>
    case 'code':
      return <code>{piece.text}</code>
    case 'see':
      return <See panel={piece.target}>{piece.text}</See>
    case 'to':
      return isSource(piece.target) ? <To source={piece.target}>{piece.text}</To> : piece.text
  }
}

const isSource = (key: string): key is SourceKey => Object.hasOwn(SOURCES, key)

function To({ source, children }: { source: SourceKey; children: string }) {
  return (
    <a href={SOURCES[source].url} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** Only words where a teacher has hidden the panel. */
function See({ panel, children }: { panel: string; children: string }) {
  const hidden = useHidden(panel)
  if (hidden) return children
  return (
    <button type="button" className="link" data-see={panel} onClick={() => showPanel(panel)}>
      {children}
    </button>
  )
}
