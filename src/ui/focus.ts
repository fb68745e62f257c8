/** Where the keyboard goes when the button that was pressed is replaced by another one. */

/** As a ref: the element takes the focus over when it is nowhere; never from something that a person is at. */
export function takeLostFocus(element: HTMLElement | null): void {
  if (element && document.activeElement === document.body) element.focus({ preventScroll: true })
}

/** Once what had the keyboard is gone: the element with this test id takes it over, if nothing else has it. */
export function focusLater(testId: string): void {
  requestAnimationFrame(() => takeLostFocus(document.querySelector<HTMLElement>(`[data-testid="${testId}"]`)))
}
