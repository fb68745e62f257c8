/** Shows the page a dataset of prompts before a run is made of it: what is read, what is left out and why, the first rows. */

import type { PromptSource } from '../core/environment-spec'
import { datasetName } from '../core/environment-spec'
import { PlaygroundError } from '../core/errors'
import { type PlacedRow, problemSentence, type RowProblem } from '../core/rows'
import { cutText } from '../core/text'
import { splitRows } from '../env/prompts/order'
import { promptRows } from '../env/prompts/rows'
import type { HubClient } from '../hub/client'
import { readPromptRows, type PromptRows } from './prompt-rows'
import type { Command, Message, PromptsLook } from './protocol'
import { fileRows } from './stage-data'

type PromptsCommand = Extract<Command, { type: 'prompts-look' | 'prompts-stop' }>

export const isForPrompts = (command: Command): command is PromptsCommand => command.type === 'prompts-look' || command.type === 'prompts-stop'

/** Rows that are shown. */
const SHOWN = 8
/** Sentences about bad rows that are told; all are counted. */
const TOLD = 20
/** Characters of a prompt or a column that are shown. */
const SHOWN_TEXT = 400
/** Rows of a file travel with the run's settings, into its link and its record: more of them belong on the Hub. */
const MOST_TEXT = 1e6
/** So often the page is told how much of a dataset has come. */
const TELL_MS = 100

export class PromptsDesk {
  private reading = new AbortController()

  constructor(
    private readonly hub: HubClient,
    private readonly post: (message: Message) => void,
  ) {}

  /** Never throws: failures become messages. */
  handle(command: PromptsCommand): void {
    // A look that another one follows is nobody's business any more.
    this.reading.abort()
    if (command.type === 'prompts-stop') return
    this.reading = new AbortController()
    void this.look(command, this.reading.signal)
  }

  private async look({ requestId, dataset }: Extract<Command, { type: 'prompts-look' }>, signal: AbortSignal): Promise<void> {
    let told = -Infinity
    const onBytes = (bytes: number): void => {
      if (performance.now() - told < TELL_MS) return
      told = performance.now()
      this.post({ type: 'prompts-reading', requestId, bytes })
    }
    try {
      const given = dataset.kind === 'file' ? await fileSource(dataset.name, dataset.file) : { source: dataset, problems: [] }
      const read = await readPromptRows(given.source, this.hub, signal, onBytes)
      this.post({ type: 'prompts-looked', requestId, result: { ok: true, look: lookAt(given.source, read, given.problems) } })
    } catch (error) {
      const known = error instanceof PlaygroundError
      this.post({ type: 'prompts-looked', requestId, result: { ok: false, error: known ? error.message : String(error), advice: known ? error.advice : '' } })
    }
  }
}

async function fileSource(name: string, file: Blob): Promise<{ source: PromptSource; problems: RowProblem[] }> {
  const { rows, problems } = await fileRows({ name, file })
  const text = rows.map(({ row }) => JSON.stringify(row)).join('\n')
  if (text.length > MOST_TEXT) {
    const message = `The rows of ${name} are ${(text.length / 1e6).toFixed(1)} million characters; ${MOST_TEXT / 1e6} million can go with a run's settings.`
    throw new PlaygroundError('config', message, 'Give a part of it, or put it on the Hub and name it there.')
  }
  return { source: { kind: 'text', name, text }, problems }
}

/** What a run would be made of. Throws PlaygroundError('config') where no row can be used. */
function lookAt(source: PromptSource, read: PromptRows, before: readonly RowProblem[]): PromptsLook {
  const used = promptRows(read.rows, '')
  const held = read.heldout && promptRows(read.heldout, '')
  const problems = [...before, ...read.problems, ...used.problems, ...(held?.problems ?? [])]
  const name = datasetName(source)
  const [first] = problems
  if (used.rows.length === 0) throw new PlaygroundError('config', `No row of ${name} can be used as a prompt.`, first ? problemSentence(first) : 'Give at least one row with a "prompt".')
  const { train, heldout } = held ? { train: used.rows, heldout: held.rows } : splitRows(used.rows)
  const columns = [...new Set(train.flatMap((row) => Object.keys(row.columns)))]
  return {
    dataset: source,
    facts: { name, ...(read.place && { place: read.place }), rows: train.length, heldOut: heldout.length, columns },
    texts: countTexts(read.rows),
    problems: { count: problems.length, first: problems.slice(0, TOLD).map(problemSentence) },
    more: read.more,
    choices: read.choices ?? [],
    examples: used.rows.slice(0, SHOWN).map(({ place, messages, columns: own }) => ({
      place,
      prompt: messages.map(({ role, content }) => ({ role, content: cutText(content, SHOWN_TEXT) })),
      columns: Object.fromEntries(Object.entries(own).map(([column, value]) => [column, cutText(typeof value === 'string' ? value : JSON.stringify(value), SHOWN_TEXT)])),
    })),
  }
}

/** Prompts that are plain texts: they become messages of the user. */
const countTexts = (rows: readonly PlacedRow[]): number => rows.filter(({ row }) => typeof row['prompt'] === 'string').length
