/** Curves of step times as an SVG of our own, on logarithmic axes: readable on a light and on a dark page. */

export interface Curve {
  name: string
  /** What x counts. */
  unit: string
  exponent: number
  points: readonly { x: number; y: number; least: number; most: number }[]
}

const PANEL = { width: 210, height: 200, left: 46, top: 30, right: 14, bottom: 40 }

const STYLE = `text{font:11px system-ui,sans-serif;fill:#57606a}.title{font-weight:600;font-size:12px;fill:#1f2328}
.axis{stroke:#8c959f}.grid{stroke:#8c959f;stroke-opacity:.25}.linear{stroke:#8c959f;stroke-dasharray:3 3;fill:none}
.line{stroke:#0969da;stroke-width:1.8;fill:none}.range{stroke:#0969da;stroke-opacity:.45}.dot{fill:#0969da}
@media (prefers-color-scheme: dark){text{fill:#9198a1}.title{fill:#f0f6fc}.line{stroke:#4493f8}.range{stroke:#4493f8}.dot{fill:#4493f8}}`

/** One panel a curve, side by side. Dashed: what linear growth from the first place would be. */
export function growthPlot(curves: readonly Curve[]): string {
  const width = PANEL.width * curves.length
  const said = curves.map(({ name, exponent }) => `${name} ${exponent.toFixed(2)}`).join(', ')
  const panels = curves.map((curve, i) => `<g transform="translate(${i * PANEL.width} 0)">${panel(curve)}</g>`).join('\n')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${PANEL.height}" width="${width}" height="${PANEL.height}" role="img">
<title>Seconds of a step, exponents: ${escape(said)}</title>
<style>${STYLE}</style>
${panels}
</svg>
`
}

function panel({ name, unit, exponent, points }: Curve): string {
  const first = points[0]
  if (!first) throw new Error(`The curve of ${name} has no points.`)
  const linear = points.map(({ x }) => (first.y * x) / first.x)
  const xs = scale(points.map(({ x }) => x), PANEL.left, PANEL.width - PANEL.right)
  const ys = scale([...points.flatMap(({ least, most }) => [least, most]), ...linear], PANEL.height - PANEL.bottom, PANEL.top)
  const path = (values: readonly number[]): string => points.map(({ x }, i) => `${i === 0 ? 'M' : 'L'}${at(xs(x))} ${at(ys(values[i] ?? Number.NaN))}`).join('')
  const bottom = PANEL.height - PANEL.bottom
  const ticksY = decades(points.flatMap(({ least, most }) => [least, most]).concat(linear))
  return [
    `<text class="title" x="${PANEL.left}" y="16">${escape(name)}: x^${exponent.toFixed(2)}</text>`,
    ...ticksY.map((y) => `<path class="grid" d="M${PANEL.left} ${at(ys(y))}H${PANEL.width - PANEL.right}"/><text x="${PANEL.left - 5}" y="${at(ys(y) + 4)}" text-anchor="end">${y} s</text>`),
    ...points.map(({ x }) => `<text x="${at(xs(x))}" y="${bottom + 14}" text-anchor="middle">${x}</text>`),
    `<text x="${(PANEL.left + PANEL.width - PANEL.right) / 2}" y="${bottom + 30}" text-anchor="middle">${escape(unit)}</text>`,
    `<path class="axis" fill="none" d="M${PANEL.left} ${PANEL.top}V${bottom}H${PANEL.width - PANEL.right}"/>`,
    `<path class="linear" d="${path(linear)}"/>`,
    ...points.map(({ x, least, most }) => `<path class="range" d="M${at(xs(x))} ${at(ys(least))}V${at(ys(most))}"/>`),
    `<path class="line" d="${path(points.map(({ y }) => y))}"/>`,
    ...points.map(({ x, y }) => `<circle class="dot" cx="${at(xs(x))}" cy="${at(ys(y))}" r="2.6"/>`),
  ].join('\n')
}

/** Of values onto [from, to], by their logarithms. */
function scale(values: readonly number[], from: number, to: number): (value: number) => number {
  const logs = values.map(Math.log)
  const [least, most] = [Math.min(...logs), Math.max(...logs)]
  return (value) => from + ((Math.log(value) - least) / (most - least || 1)) * (to - from)
}

/** Powers of ten within the values, or a round number where there is none. */
function decades(values: readonly number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const powers: number[] = []
  for (let k = Math.ceil(Math.log10(least)); 10 ** k <= most; k++) powers.push(Number((10 ** k).toPrecision(1)))
  return powers.length > 0 ? powers : [Number(((least + most) / 2).toPrecision(2))]
}

const at = (value: number): string => value.toFixed(1)

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
