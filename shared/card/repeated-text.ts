/** repeated-text.ts: detects whether a caption only repeats numbers that its card shows. Pure. */

/** Longer text says more than the card does. In UTF-16 code units. */
const MAX_REPEATED_CHARS = 400

const FIGURE = /[-−]?\d+(?:[.,]\d+)?/g

/**
 * Returns whether each sentence contains a number and all numbers are figures of the card, rounded or not. A sentence
 * without a number, such as advice, says something that the card doesn't show. Cost: linear in the length of the text.
 */
export function repeatsFigures(text: string, figures: readonly (number | null)[]): boolean {
  if (text.length > MAX_REPEATED_CHARS) return false
  const known = new Set(figures.flatMap((figure) => (figure === null ? [] : [figure, Math.round(figure)])))
  const sentences = text.split(/[.!?؟]+(?:\s+|$)|[。！？।]+/).filter((sentence) => sentence.trim() !== "")
  return (
    sentences.length > 0 &&
    sentences.every((sentence) => {
      const mentioned = sentence.match(FIGURE) ?? []
      return mentioned.length > 0 && mentioned.every((figure) => isKnown(figure, known))
    })
  )
}

/** A hyphen before a number may be a minus sign or the middle of a range such as "4-9". */
function isKnown(figure: string, known: ReadonlySet<number>): boolean {
  const value = Number(figure.replace("−", "-").replace(",", "."))
  return known.has(value) || (value < 0 && known.has(-value))
}
