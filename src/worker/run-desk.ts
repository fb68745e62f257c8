/** Answers the page's questions about kept runs: list, rename, delete, compare, look at imported trajectories. */

import { describeError } from '../core/errors'
import { sleep } from '../core/sleep'
import { probeStorage } from '../runtime/capabilities'
import type { RunArchive } from './archive'
import { importTrajectories } from './imported-run'
import type { RunJournal } from './journal'
import type { Command, Message } from './protocol'
import { runsElsewhere } from './run-lock'

type RunCommand = Extract<Command, { type: 'list-runs' | 'edit-run' | 'delete-run' | 'read-history' | 'import-trajectories' | 'save' }>

export const isForRunDesk = (command: Command): command is RunCommand =>
  ['list-runs', 'edit-run', 'delete-run', 'read-history', 'import-trajectories', 'save'].includes(command.type)

/** A tab that is reloaded may hold its run for a moment more: so often the first list looks again, and so many ms apart. */
const LOOKS = 10
const LOOK_EVERY = 100

export class RunDesk {
  private listed = false

  constructor(
    private readonly openArchive: () => Promise<RunArchive>,
    private readonly journal: RunJournal,
    private readonly post: (message: Message) => void,
  ) {}

  /** Takes a command; never throws: failures become messages. */
  handle(command: RunCommand): void {
    void this.answer(command).catch((error: unknown) => this.complain(describeError(error)))
  }

  /** A run could not be kept: said once as a notice, and with the list. */
  complain(sentence: string): void {
    this.post({ type: 'event', event: { type: 'notice', level: 'warning', text: sentence } })
  }

  /** Tells the page which runs are kept. */
  async list(): Promise<void> {
    const { current, unkept: found } = this.journal
    const unkept = found ? { run: found.run, why: found.why } : null
    const storage = await probeStorage()
    try {
      const archive = await this.openArchive()
      const held = await this.elsewhere(archive)
      const runs = await archive.list()
      const id = current && runs.some((run) => run.id === current.id) ? current.id : null
      this.post({ type: 'runs', runs, current: id, held, storage, problem: '', unkept })
    } catch (error) {
      const problem = `This browser keeps no runs for the page (${describeError(error).replace(/\.$/, '')}). Leave private browsing, or allow the site to store data.`
      this.post({ type: 'runs', runs: [], current: null, held: [], storage, problem, unkept })
    }
  }

  /** The first list waits a little for the newest run, which is offered to be gone on with. */
  private async elsewhere(archive: RunArchive): Promise<string[]> {
    const looks = this.listed ? 1 : LOOKS
    this.listed = true
    for (let look = 1; ; look++) {
      const held = await runsElsewhere()
      if (look === looks || held.length === 0 || !held.includes((await archive.list())[0]?.id ?? '')) return held
      await sleep(LOOK_EVERY)
    }
  }

  private async answer(command: RunCommand): Promise<void> {
    switch (command.type) {
      case 'save':
        return this.journal.save()
      case 'list-runs':
        return this.list()
      case 'edit-run':
        return this.edit(command)
      case 'delete-run':
        return this.delete(command.id)
      case 'read-history': {
        const { requestId, id } = command
        const history = await (await this.openArchive()).history(id)
        return this.post({ type: 'run-history', requestId, id, history })
      }
      case 'import-trajectories':
        return this.import(command.file, command.name)
    }
  }

  private async edit({ id, name, notes }: Extract<RunCommand, { type: 'edit-run' }>): Promise<void> {
    const title = name?.trim()
    const change = { ...(title ? { name: title } : {}), ...(notes === undefined ? {} : { notes }) }
    const record = await (await this.openArchive()).edit(id, change)
    if (record) this.journal.edited(record)
    await this.list()
  }

  private async delete(id: string): Promise<void> {
    const archive = await this.openArchive()
    const isCurrent = this.journal.current?.id === id
    if (!isCurrent && (await runsElsewhere()).includes(id)) {
      this.complain('This run is open in another tab: close that tab before you delete it.')
    } else {
      // The run that is loaded goes on, under a record of its own if another step is trained.
      if (isCurrent) await this.journal.forget()
      await archive.delete(id)
      // There may be room now for what was refused before.
      await this.journal.save()
    }
    await this.list()
  }

  private async import(file: Blob, name: string): Promise<void> {
    try {
      const { notices, ...restored } = await importTrajectories(file, name)
      this.post({ type: 'restored', ...restored })
      for (const notice of notices) this.complain(notice)
    } catch (error) {
      this.complain(describeError(error))
    }
  }
}
