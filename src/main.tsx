/** Starts the page: the worker, the stores from the page's address, the interface, the scripting handle. */

import { createRoot } from 'react-dom/client'
import { App } from './panels/app/App'
import { keepSite } from './site'
import { followAddressBar } from './store/address-bar'
import { createStores } from './store/create'
import { hubDoor } from './store/sign-in-door'
import { followLeaving } from './store/leaving'
import { type LinkPlace, readLink } from './store/link'
import { RECORDED_RUN_PATH, startReplay } from './store/replay-start'
import { browserClock } from './store/run-store'
import { createHandle } from './store/scripting'
import { DURATIONS } from './ui/durations'
import { firstDrawOver, holdUntil } from './ui/first-draw'
import { keepFocusInView } from './ui/keep-focus'
import { fetchLater } from './ui/later'
import './ui/styles'
import { createEngineClient } from './worker/client'

const arrived = location.href
const door = hubDoor()
// The door took the Hub's answer out of the address.
const isBack = location.href !== arrived
const client = createEngineClient()
const stores = createStores(client, location.hash, browserClock)
window.playground = createHandle(stores)
followAddressBar(stores)
followLeaving(stores)
// Whoever left to sign in was about to publish.
void stores.account.open(door).then((cameBack) => cameBack && stores.takeAway.show(''))
keepSite(stores, isBack)
keepFocusInView()
const still = matchMedia('(prefers-reduced-motion: reduce)').matches
const showRecording = (place: LinkPlace) => startReplay(stores, client, { fetch: fetchRecording, still, place })
stores.lessons.recordingBy(showRecording)
// The recording moves.
const drawn = showRecording(readLink(location.hash))
  .then(nextFrames)
  .then(nextFrames)
holdUntil(drawn, DURATIONS.firstDraw)
void firstDrawOver().then(() => {
  stores.controller.start()
  setTimeout(() => void fetchLater(), DURATIONS.idle)
})

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element "root"')
createRoot(root).render(<App stores={stores} />)

/** Two frames, so that what was asked for is painted; not waited for in a hidden tab, where none come. */
function nextFrames(): Promise<void> {
  return new Promise((resolve) => {
    if (document.visibilityState === 'hidden') resolve()
    else requestAnimationFrame(() => requestAnimationFrame(() => resolve()))
  })
}

async function fetchRecording(): Promise<ArrayBuffer> {
  const response = await fetch(new URL(RECORDED_RUN_PATH, document.baseURI))
  if (!response.ok) throw new Error(`${response.status} ${response.url}`)
  return response.arrayBuffer()
}
