/** The self-test failed: what differed, on which GPU, and the two ways on. */

import { useModels, useRun, useStores } from '../../store/hooks'
import { isDistrusted } from '../../store/model-store'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'

export function SelfTestBanner() {
  const { controller } = useStores()
  const engine = useRun((view) => view.engine)
  const distrusted = useModels((s) => isDistrusted(engine, s))
  const test = engine?.selfTest
  if (!distrusted || !test) return null
  const words = S.model.test
  return (
    <div className="alerts">
      <div className="notice failure self-test" role="alert" data-testid="self-test">
        <p>
          <strong>{words.title(test.adapter)}</strong> {test.problem} {words.why}
        </p>
        <p className="note">{words.numbers(number(test.logprobError), number(test.gradientError))}</p>
        <div className="self-test-ways">
          <button type="button" className="button" data-testid="use-wasm" onClick={controller.model.useWasm}>
            {words.wasm}
          </button>
          <button type="button" className="button" data-testid="train-anyway" onClick={controller.model.trustDevice}>
            {words.anyway}
          </button>
        </div>
      </div>
    </div>
  )
}
