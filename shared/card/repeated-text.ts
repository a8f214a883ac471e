/** repeated-text.ts: whether a model's text only repeats the numbers of the card that contains it. Pure. */

/** A longer text says more than a card. In UTF-16 code units. */
const MAX_REPEATED_CHARS = 400

const FIGURE = /[-−]?\d+(?:[.,]\d+)?/g

/**
 * Whether each sentence has a number, and all numbers are the card's, rounded or not. A sentence without a number, such
 * as advice, says something that the card doesn't show. Linear in the text.
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
