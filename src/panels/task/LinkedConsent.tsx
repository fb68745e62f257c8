/** What a link would contact or run, one by one, and the button that lets the page do so. */

import { datasetName, datasetsOf, type PageFunction, singleSpecs } from '../../core/environment-spec'
import { hostsOf } from '../../core/network-hosts'
import { describeAddress } from '../../store/address'
import { useSetup, useStores } from '../../store/hooks'
import { pageSandbox } from '../../store/sandbox-store'
import { takeLostFocus } from '../../ui/focus'
import { KIND_STRINGS as W } from '../../ui/kind-strings'
import { NETWORK_STRINGS as N } from '../../ui/network-strings'
import { StartOver } from './StartOver'
import { useConnecting } from './useConnecting'

export function LinkedConsent() {
  const { controller } = useStores()
  const environment = useSetup((s) => s.config.environment)
  const rollout = useSetup((s) => s.config.rollout_func)
  const hosts = useSetup((s) => hostsOf(s.config))
  const connecting = useConnecting()
  const members = singleSpecs(environment)
  const servers = members.flatMap((one) => (one.kind === 'openenv' ? [one.url] : []))
  const code: PageFunction[] = [...members.flatMap((one) => (one.kind === 'custom' ? [one] : [])), ...(rollout ? [rollout] : [])]
  const datasets = datasetsOf(environment).filter(({ kind }) => kind === 'hub')
  const allow = async () => {
    for (const { called, code: text } of code) await pageSandbox(controller.send).allow({ called, code: text }, hosts)
    connecting.connect(environment)
  }
  return (
    <div className="address" data-testid="linked-environment">
      <p className="note">{W.consent}</p>
      <ul className="linked-list">
        {servers.map((url) => (
          <li key={url}>{W.server(describeAddress(url, location.protocol) ?? url)}</li>
        ))}
        {datasets.map((dataset) => (
          <li key={datasetName(dataset)}>{W.dataset(datasetName(dataset))}</li>
        ))}
        {code.length > 0 && hosts.length > 0 && (
          <li data-testid="linked-network">{N.linked(hosts)}</li>
        )}
        {code.map(({ called, code: text }, i) => (
          <li key={i}>
            <details>
              <summary>{W.code(called, hosts.length > 0)}</summary>
              <pre className="linked-code" tabIndex={0} aria-label={W.code(called, hosts.length > 0)}>
                {text}
              </pre>
            </details>
          </li>
        ))}
      </ul>
      {connecting.asked === null && (
        <button type="button" className="button primary" data-testid="allow-linked" ref={connecting.answered ? takeLostFocus : null} onClick={() => void allow()}>
          {W.allow}
        </button>
      )}
      <StartOver connecting={connecting} />
    </div>
  )
}
