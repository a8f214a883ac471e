/** focus-in-text.ts: moves the focus within one rendered text. SPEC MD15. */

/** Moves the focus to the first match in the same text, which scrolls it into view. */
export function focusInText(from: Element, selector: string): void {
  from.closest(".prose")?.querySelector<HTMLElement>(selector)?.focus()
}
