/** Publishing on the Hub: who, what, where, and then how it goes. */

import { useState } from 'react'
import type { RunRecord } from '../../core/run-record'
import { useStores, useTakeAway } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { TAKE_AWAY_STRINGS } from '../../ui/take-away-strings'
import { Account } from './Account'
import { PublishForm } from './PublishForm'
import { PublishState } from './PublishState'

/** Into what kind of repository. */
export type Into = 'new' | 'existing' | 'pull-request'

export function Publish({ run }: { run: RunRecord }) {
  const publish = useTakeAway((view) => view.publish)
  const [into, setInto] = useState<Into>('new')
  const words = TAKE_AWAY_STRINGS.publish
  const { takeAway, account } = useStores()
  const update = () => {
    // A right that is lacking for it is asked for above.
    setInto('existing')
    if (account.lacking({ toExisting: true, asPullRequest: false }).length === 0 && account.isValid()) takeAway.updateExisting()
  }
  const wish = { toExisting: into === 'existing', asPullRequest: into === 'pull-request' }
  return (
    <section className="take-section" data-testid="publish-section">
      <div className="titled">
        <h3>{words.title}</h3>
        <Help of="publish:form" name={words.title} />
      </div>
      <p className="note">{words.lead}</p>
      <Account wish={wish} />
      {/* One upload at a time; of whichever run, it is shown until it is over. */}
      {publish ? <PublishState publish={publish} onUpdate={update} /> : <PublishForm run={run} into={into} wish={wish} onInto={setInto} />}
    </section>
  )
}
