/** The whole page: the bar, the loop's four columns in order, the selected episode, the curves. */

import type { RefObject } from 'react'
import { useRef } from 'react'
import type { Stores } from '../../store/hooks'
import { StoresProvider } from '../../store/hooks'
import { ErrorBoundary } from '../../ui/ErrorBoundary'
import { heightAs } from '../../ui/height-as'
import { Hideable } from '../../ui/Hideable'
import { S } from '../../ui/strings'
import { ArticleLater } from '../article/ArticleLater'
import { Bar } from '../bar/Bar'
import { BenchDoor } from '../bench/BenchDoor'
import { ChatPanel } from '../chat/ChatPanel'
import { ComparePanel } from '../compare/ComparePanel'
import { CurvesPanel } from '../curves/CurvesPanel'
import { PlanPanel } from '../plan/PlanPanel'
import { PlayPanel } from '../environment/PlayPanel'
import { GroupPanel } from '../group/GroupPanel'
import { HiddenNote } from '../lessons/HiddenNote'
import { LessonDoor } from '../lessons/LessonDoor'
import { SelfTestBanner } from '../model/SelfTestBanner'
import { Alerts, Failure } from '../notices/Notices'
import { ReplayBar } from '../replay/ReplayBar'
import { RewardsPanel } from '../rewards/RewardsPanel'
import { RecordingBanner, ResumeBanner } from '../runs/Banners'
import { SaveFiles } from '../take-away/SaveFiles'
import { TakeAwayDialog } from '../take-away/TakeAwayDialog'
import { StagePanel } from '../stage/StagePanel'
import { TaskPanel } from '../task/TaskPanel'
import { TimelinePanel } from '../timeline/TimelinePanel'
import { TourOffer } from '../tour/TourOffer'
import { TrajectoryPanel } from '../trajectory/TrajectoryPanel'
import { UpdatePanel } from '../update/UpdatePanel'

const headHeight = heightAs('--head-height')

export function App({ stores }: { stores: Stores }) {
  const loop = useRef<HTMLDivElement>(null)
  return (
    <ErrorBoundary>
      <StoresProvider stores={stores}>
        <div className="head" ref={headHeight}>
          <Bar />
          <Failure />
          <LessonDoor />
        </div>
        <TourOffer />
        <HiddenNote />
        <Alerts />
        <ResumeBanner />
        <RecordingBanner />
        <SelfTestBanner />
        <PlanPanel />
        <main className="page" id="loop">
          <LoopNav loop={loop} />
          <div className="loop" ref={loop}>
            <TaskPanel />
            <GroupPanel />
            <RewardsPanel />
            <UpdatePanel />
          </div>
          <TrajectoryPanel />
          <ComparePanel />
          <ChatPanel />
          <PlayPanel />
          <StagePanel />
          <CurvesPanel />
          <TimelinePanel />
          <Hideable part="article">
            <ArticleLater />
          </Hideable>
        </main>
        <ReplayBar />
        <TakeAwayDialog />
        <SaveFiles />
        <BenchDoor />
      </StoresProvider>
    </ErrorBoundary>
  )
}

const STATIONS = [S.task.title, S.group.short, S.rewards.short, S.update.title]

/** On a phone: the four stations of the loop; one tap brings a card into view. */
function LoopNav({ loop }: { loop: RefObject<HTMLDivElement | null> }) {
  const show = (i: number) => loop.current?.children[i]?.scrollIntoView({ block: 'start', inline: 'start' })
  return (
    <nav className="loop-nav" aria-label={S.loop}>
      {STATIONS.map((name, i) => (
        <button key={name} type="button" onClick={() => show(i)}>
          <span className="panel-number">{i + 1}</span> {name}
        </button>
      ))}
    </nav>
  )
}
