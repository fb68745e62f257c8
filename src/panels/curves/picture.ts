/** The drawn charts as one SVG on white that looks the same in any program: no style sheet, no variables, every colour and font written out. */

import type { CurveSpec } from '../../ui/curve-specs'
import { S } from '../../ui/strings'
import { namesOf } from './names'
import { nameRoom, PLOT } from './plot'
import { type DrawnRun, type ViewOptions, viewOf } from './series'

export interface PicturePart {
  title: string
  /** As recharts drew it. */
  chart: SVGSVGElement
  width: number
  height: number
  /** At the lines' ends: from the top of the chart, px. */
  names: { name: string; color: string; top: number }[]
  /** Of stacked shares. */
  legend: { name: string; color: string }[]
  /** What was left out of it, or ''. */
  note: string
}

export interface Picture {
  svg: string
  width: number
  height: number
}

const PAD = 24
const TITLE = 24
const LEGEND = 18
const GAP = 24
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
const SVG = 'http://www.w3.org/2000/svg'

/** What stands in the panel now, chart by chart; those without a drawing are left out. */
export function pictureParts(panel: Element, specs: readonly CurveSpec[], runs: readonly DrawnRun[], present: number, options: ViewOptions): PicturePart[] {
  return specs.flatMap((spec) => {
    const chart = panel.querySelector<SVGSVGElement>(`[data-curve-figure="${CSS.escape(spec.id)}"] svg.recharts-surface`)
    if (!chart) return []
    const view = viewOf(spec, runs, present, options)
    const { width, height } = chart.getBoundingClientRect()
    const plot = height - PLOT.top - PLOT.bottom
    return [
      {
        title: spec.label,
        chart,
        width,
        height,
        names: namesOf(view, view.scale).map(({ name, color, bottom }) => ({ name, color, top: PLOT.top + plot * (1 - bottom) })),
        legend: view.stacked ? view.lines.map(({ label, color }) => ({ name: label, color })) : [],
        note: view.leftOut > 0 ? S.curves.logOut(view.leftOut) : '',
      },
    ]
  })
}

/** One to three charts side by side, their names above them, the runs and how they are drawn at the top. */
export function composePicture(parts: readonly PicturePart[], { runs, options }: { runs: readonly DrawnRun[]; options: ViewOptions }): Picture {
  const columns = parts.length > 4 ? 3 : Math.min(2, parts.length)
  const cell = { width: Math.max(...parts.map(({ width }) => width)), height: TITLE + Math.max(...parts.map(({ height }) => height)) + LEGEND }
  const head = runs.length > 1 ? 50 : 30
  const width = Math.ceil(2 * PAD + columns * cell.width + (columns - 1) * GAP)
  const height = Math.ceil(2 * PAD + head + Math.ceil(parts.length / columns) * (cell.height + GAP) - GAP)
  const host = lightHost()
  try {
    const root = node('svg', { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': FONT, 'font-size': 12 })
    root.append(node('rect', { width, height, fill: '#ffffff' }))
    const ink = resolve(host, 'var(--ink)')
    const muted = resolve(host, 'var(--muted)')
    const facts = S.curves.save.facts(S.curves.axes[options.axis], String(options.smoothing), options.log)
    root.append(text(`${S.product} · ${facts}`, { x: PAD, y: PAD + 10, fill: muted }))
    if (runs.length > 1) root.append(...runKey(host, runs, ink))
    parts.forEach((part, i) => {
      const [x, y] = [PAD + (i % columns) * (cell.width + GAP), PAD + head + Math.floor(i / columns) * (cell.height + GAP)]
      root.append(text(part.title, { x, y: y + 13, fill: ink, 'font-size': 13, 'font-weight': 600 }))
      if (part.note !== '') root.append(text(part.note, { x: x + part.width, y: y + 13, fill: muted, 'text-anchor': 'end' }))
      const chart = plainCopy(host, part.chart)
      for (const [name, value] of Object.entries({ x, y: y + TITLE, width: part.width, height: part.height })) chart.setAttribute(name, String(value))
      root.append(chart)
      for (const { name, color, top } of part.names) root.append(text(cut(name), { x: x + part.width - nameRoom(part.names.map((each) => each.name)) + 6, y: y + TITLE + top + 4, fill: resolve(host, color), 'font-size': 11 }))
      let at = x + PLOT.left
      for (const { name, color } of part.legend) {
        const top = y + TITLE + part.height + 4
        root.append(node('rect', { x: at, y: top, width: 10, height: 10, fill: resolve(host, color) }), text(name, { x: at + 14, y: top + 9, fill: ink, 'font-size': 11 }))
        at += 26 + 6.5 * name.length
      }
    })
    return { svg: new XMLSerializer().serializeToString(root), width, height }
  } finally {
    host.remove()
  }
}

/** Which line is which run. */
function runKey(host: HTMLElement, runs: readonly DrawnRun[], ink: string): SVGElement[] {
  let x = PAD
  return runs.flatMap(({ name: full, short, color, dash }) => {
    const name = short === full ? full : `${short} · ${full}`
    const line = node('line', { x1: x, x2: x + 26, y1: PAD + 27, y2: PAD + 27, stroke: resolve(host, color), 'stroke-width': 2, 'stroke-dasharray': dash || 'none' })
    const label = text(name, { x: x + 32, y: PAD + 31, fill: ink })
    x += 56 + 6.6 * name.length
    return [line, label]
  })
}

/** Out of sight, and light whatever the page is: what is measured in it has the colours of paper. */
function lightHost(): HTMLElement {
  const host = document.body.appendChild(document.createElement('div'))
  host.setAttribute('aria-hidden', 'true')
  host.style.cssText = 'position:absolute;inset-inline-start:-9999px;inline-size:0;block-size:0;overflow:hidden;color-scheme:light'
  return host
}

const KEPT = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'opacity', 'font-size', 'text-anchor'] as const

/** A copy without classes and variables: every look as an attribute. */
function plainCopy(host: HTMLElement, chart: SVGSVGElement): SVGSVGElement {
  const copy = host.appendChild(chart.cloneNode(true) as SVGSVGElement)
  for (const each of [copy, ...copy.querySelectorAll('*')]) {
    if (each instanceof HTMLElement || each.closest('defs')) continue
    const style = getComputedStyle(each)
    for (const name of KEPT) each.setAttribute(name, style.getPropertyValue(name))
    for (const name of ['class', 'style', 'tabindex', 'role']) each.removeAttribute(name)
  }
  copy.remove()
  return copy
}

/** A colour of the style sheet as rgb(). */
function resolve(host: HTMLElement, color: string): string {
  host.style.color = color
  return getComputedStyle(host).color
}

const LONGEST_NAME = 17
const cut = (name: string) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name)

function node(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value))
  return made
}

function text(content: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = node('text', attributes)
  made.textContent = content
  return made
}
