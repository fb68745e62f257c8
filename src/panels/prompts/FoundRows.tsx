/** What a dataset holds: counts, where each column goes, the first rows, and why others cannot be used. */

import type { PromptsLook } from '../../worker/protocol'
import { PROMPTS_STRINGS as W } from '../../ui/prompts-strings'

export function FoundRows({ look: { facts, texts, problems, more, examples } }: { look: PromptsLook }) {
  const { rows, heldOut, columns } = facts
  return (
    <div className="prompts-found" data-testid="prompts-found">
      <p>{W.found(rows, heldOut)}</p>
      {more && <p className="note">{W.more}</p>}
      {texts > 0 && <p className="note">{W.texts(texts)}</p>}
      <dl className="prompts-columns" aria-label={W.goes}>
        <dt>{W.promptColumn}</dt>
        <dd>{W.prompt}</dd>
        {columns.map((column) => (
          <div key={column}>
            <dt>{column}</dt>
            <dd>{column === 'solution' ? W.solution : W.other}</dd>
          </div>
        ))}
      </dl>
      {!columns.includes('solution') && <p className="note">{W.noSolution}</p>}
      {problems.count > 0 && (
        <details className="prompts-problems" data-testid="prompts-problems" open={problems.count <= 3}>
          <summary>{W.problems(problems.count)}</summary>
          <ul>
            {problems.first.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
            {problems.count > problems.first.length && <li>{W.moreProblems(problems.count - problems.first.length)}</li>}
          </ul>
        </details>
      )}
      <div className="prompts-table" tabIndex={0} role="group" aria-label={W.first(examples.length)}>
        <table data-testid="prompts-rows">
          <thead>
            <tr>
              <th scope="col">{W.row}</th>
              <th scope="col">{W.promptColumn}</th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {examples.map(({ place, prompt, columns: own }) => (
              <tr key={place}>
                <th scope="row">{place.replace(/^(line|row) /, '')}</th>
                <td className="prompts-said">
                  {prompt.map(({ role, content }, i) => (
                    <p key={i}>
                      {(prompt.length > 1 || role !== 'user') && <b>{role} </b>}
                      {content}
                    </p>
                  ))}
                </td>
                {columns.map((column) => (
                  <td key={column}>{own[column] ?? ''}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}
