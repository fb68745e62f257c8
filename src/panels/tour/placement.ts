/** Where a floating box stands: in the corner of the window where it covers least of what it speaks of. */

export interface Box {
  left: number
  top: number
  width: number
  height: number
}

const overlap = (a: Box, b: Box) =>
  Math.max(0, Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top))

/** The place of a box of `size` in the `room`; bottom right where it does not matter. */
export function placeBeside(target: Box | null, size: Pick<Box, 'width' | 'height'>, room: Box): Pick<Box, 'left' | 'top'> {
  const [left, right] = [room.left, room.left + room.width - size.width]
  const [top, bottom] = [room.top, room.top + room.height - size.height]
  const corners = [
    { left: right, top: bottom },
    { left, top: bottom },
    { left: right, top },
    { left, top },
  ]
  const covered = corners.map((corner) => (target ? overlap({ ...corner, ...size }, target) : 0))
  return corners[covered.indexOf(Math.min(...covered))] ?? { left: right, top: bottom }
}
