/** Lines of a CSV file, as RFC 4180 has them. */

/** One line with its end; cells with commas, quotes or line ends are quoted. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\n`
}

/** A number with every digit; an empty cell where nothing was measured, which is not 0. */
export function csvNumber(value: number | null | undefined): string {
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : ''
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
