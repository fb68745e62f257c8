/** Every explanation by its key, and the names of what '?' may stand beside. Its texts load when the first '?' is opened. */

import { CONTROL_EXPLAINERS, VIEW_EXPLAINERS } from './controls'
import { explainMetric } from './metrics'
import { PANEL_EXPLAINERS } from './panels'
import { RECIPE_EXPLAINERS } from './recipes'
import { SETTING_EXPLAINERS } from './settings'
import { type Explainer, SOURCES } from './sources'

export const EXPLAINERS = { ...SETTING_EXPLAINERS, ...VIEW_EXPLAINERS, ...CONTROL_EXPLAINERS, ...PANEL_EXPLAINERS, ...RECIPE_EXPLAINERS }

/** A setting by TRL's name, 'view:…', 'bar:…' and the like, 'panel:…' by the panel's id; metrics, which have any name, as 'metric:NAME'. */
export type HelpKey = keyof typeof EXPLAINERS | `metric:${string}`

/** The id of a panel: each has an explanation, 'panel:ID'. */
export type PanelId = Extract<HelpKey, `panel:${string}`> extends infer Key ? (Key extends `panel:${infer Id}` ? Id : never) : never

/** The paragraph and the source behind a '?'; undefined for a metric that nobody has explained. */
export function explain(key: HelpKey): (Explainer & { title: string; url: string }) | undefined {
  const found = key.startsWith('metric:') ? explainMetric(key.slice('metric:'.length)) : EXPLAINERS[key as keyof typeof EXPLAINERS]
  return found && { ...found, ...SOURCES[found.source] }
}
