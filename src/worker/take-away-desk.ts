/** Answers the page's exports and uploads, one at a time and beside the run; a refusal loses nothing, since all comes out of the archive, or of memory where that took no more. */

import { describeError, PlaygroundError } from '../core/errors'
import { latePart } from '../core/late-part'
import type { ExportFile } from '../core/run-record'
import { RepositoryExists } from '../hub/publish-errors'
import type { RunArchive } from './archive'
import type { HubAccess } from './hub-access'
import type { RunJournal } from './journal'
import type { Command, Message, PublishResult, PublishTarget } from './protocol'
import type { Kept } from './take-away'

type TakeAwayCommand = Extract<Command, { type: 'export' | 'publish' | 'publish-stop' }>

export const isForTakeAway = (command: Command): command is TakeAwayCommand => ['export', 'publish', 'publish-stop'].includes(command.type)

export class TakeAwayDesk {
  private queue: Promise<void> = Promise.resolve()
  private readonly stops = new Map<number, AbortController>()

  constructor(
    private readonly openArchive: () => Promise<RunArchive>,
    private readonly journal: RunJournal,
    private readonly hub: HubAccess,
    private readonly post: (message: Message) => void,
  ) {}

  /** Takes a command; never throws: failures become messages. */
  handle(command: TakeAwayCommand): void {
    if (command.type === 'publish-stop') return this.stops.get(command.requestId)?.abort()
    if (command.type === 'publish') this.stops.set(command.requestId, new AbortController())
    this.queue = this.queue.then(() => (command.type === 'export' ? this.export(command) : this.publish(command)))
  }

  private async export({ requestId, id, kind }: Extract<TakeAwayCommand, { type: 'export' }>): Promise<void> {
    try {
      const { exportFiles } = await folders()
      const { name, files } = await exportFiles(await this.read(id), kind)
      const [only] = files
      const single = files.length === 1 && only !== undefined
      const { zipFiles } = await latePart(() => import('./zip'))
      const result = single ? { ok: true as const, name: only.path, file: asBlob(only) } : { ok: true as const, name: `${name}.zip`, file: await zipFiles(name, files) }
      this.post({ type: 'exported', requestId, result })
    } catch (error) {
      this.post({ type: 'exported', requestId, result: { ok: false, ...sentences(error) } })
    }
  }

  private async publish({ requestId, id, target }: Extract<TakeAwayCommand, { type: 'publish' }>): Promise<void> {
    const { signal } = this.stops.get(requestId) as AbortController
    let result: PublishResult
    try {
      this.post({ type: 'publish-progress', requestId, progress: { stage: 'preparing' } })
      const kept = await this.read(id)
      const files = await filesFor(target, kept)
      const { publishFiles } = await latePart(() => import('../hub/publish'))
      const { url, pullRequestUrl, commit, verified } = await publishFiles({
        ...this.hub.forPublishing(),
        repo: { type: target.what === 'trajectories' ? 'dataset' : 'model', name: target.repo },
        files,
        into: target.into,
        private: target.private,
        asPullRequest: target.asPullRequest,
        title: `${kept.run.name}: GRPO, ${kept.run.step} steps`,
        signal,
        onProgress: (progress) => this.post({ type: 'publish-progress', requestId, progress }),
      })
      result = { ok: true, url: pullRequestUrl ?? url, commit, verified }
    } catch (error) {
      const retry = !(error instanceof PlaygroundError) || error.recurrence !== 'lasting'
      result = { ok: false, ...sentences(error), canRetry: retry, ...(error instanceof RepositoryExists ? { exists: true } : {}) }
    }
    this.stops.delete(requestId)
    this.post({ type: 'published', requestId, result })
  }

  /** The run with its last finished step, also when it is the one that is going on. */
  private async read(id: string): Promise<Kept> {
    await this.journal.save()
    const { readKept, readUnkept } = await folders()
    const { unkept } = this.journal
    if (unkept?.run.id === id) return readUnkept(await this.openArchive().catch(() => null), unkept)
    return readKept(await this.openArchive(), id)
  }
}

async function filesFor(target: PublishTarget, kept: Kept): Promise<ExportFile[]> {
  const { adapterFolder, datasetFolder, mergedFolder } = await folders()
  switch (target.what) {
    case 'adapter':
      return adapterFolder(kept, target.repo)
    case 'merged':
      return mergedFolder(kept, target.repo)
    case 'trajectories':
      return datasetFolder(kept, target.repo)
  }
}

const folders = () => latePart(() => import('./take-away'))

const asBlob = ({ content }: ExportFile): Blob => (content instanceof Blob ? content : new Blob([content]))

function sentences(error: unknown): { error: string; advice: string } {
  if (error instanceof PlaygroundError) return { error: error.message, advice: error.advice }
  return { error: describeError(error), advice: 'Try again; if it happens again, take the files that can be made one by one.' }
}
