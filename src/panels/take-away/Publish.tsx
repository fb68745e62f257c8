/** Publishing on the Hub: who, what, where, and then how it goes. */

import type { RunRecord } from '../../core/run-record'
import { useTakeAway } from '../../store/hooks'
import { S } from '../../ui/strings'
import { Account } from './Account'
import { PublishForm } from './PublishForm'
import { PublishState } from './PublishState'

export function Publish({ run }: { run: RunRecord }) {
  const publish = useTakeAway((view) => view.publish)
  const words = S.takeAway.publish
  // One upload at a time; of whichever run, it is shown until it is over.
  return (
    <section className="take-section" data-testid="publish-section">
      <h3>{words.title}</h3>
      <p className="note">{words.lead}</p>
      <Account />
      {publish ? <PublishState publish={publish} /> : <PublishForm run={run} />}
    </section>
  )
}
