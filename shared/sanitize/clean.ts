/**
 * clean.ts: model text in, clean Markdown out, piece by piece.
 *
 * model → CLEAN → event → fold
 * The one chokepoint for every text and thinking delta, before anything is stored (DESIGN §5). Code is left alone; of
 * HTML only bare formatting and `<span id='tool_n'>` stay; what is no HTML stays readable.
 * Pure. Any cut gives the same text, and clean text is not changed by cleaning (SPEC CL9).
 */

import { InlineCodeFinder, LineFinder, splitCode } from "../text/code-tracker.ts"
import { type HtmlConstruct, HtmlReader } from "./html-policy.ts"
import { MAX_PENDING_CHARS } from "../limits.ts"
import { matchFence, isFenceLine, findRunEnd, TEXT, WAIT } from "../text/fence.ts"
import { WORD_JOINER, CleanWriter, type CleanWriterState } from "./clean-writer.ts"
import { isControl, isConstructStart, normalizeText, PUNCTUATION, findSpecial } from "../text/characters.ts"

/** Plain JSON, a few KB at most; a fresh cleaner goes on from it, in the middle of a tag too. */
export interface CleanState {
  /** A CR or a high surrogate whose partner may come. */
  readonly carry: string
  /** Text that cannot be settled yet. */
  readonly held: string
  readonly spans: number
  /** Where in `held` the paragraph ends in which a run of backticks stayed open, or -1. */
  readonly openTo: number
  /** The held text goes on with a run over every bound. */
  readonly inRun: boolean
  readonly outlet: CleanWriterState
}

export interface Cleaner {
  push(text: string): string
  /** The text is over: what was held is settled. */
  end(): string
  save(): CleanState
}

/**
 * Cleans a growing text.
 *
 * Shapes  raw text → clean text; joined, the pieces do not depend on the cuts.
 * Units   what is held is at most a few MAX_HELD UTF-16 code units.
 * Errors  none. What cannot be understood is text.
 * Cost    one pass over the text, hostile ones too.
 * Source  SPEC CL1–CL10.
 */
export function createCleaner(saved?: CleanState): Cleaner {
  const chunkCleaner = new ChunkCleaner(saved)
  let carry = saved?.carry ?? ""
  return {
    push(text) {
      const joined = carry + text
      carry = SPLIT_UNIT.test(joined) ? joined.slice(-1) : ""
      return chunkCleaner.cleanChunk(normalizeText(carry === "" ? joined : joined.slice(0, -1)), false)
    },
    end() {
      const rest = normalizeText(carry)
      carry = ""
      return chunkCleaner.cleanChunk(rest, true)
    },
    save: () => chunkCleaner.save(carry),
  }
}

export function clean(text: string): string {
  const cleaner = createCleaner()
  return cleaner.push(text) + cleaner.end()
}

/**
 * Undoes `&lt;` outside code, in what goes back to the model: it should read what it wrote.
 *
 * Shapes  clean text → text for the model; never stored or shown.
 */
export function cleanToModel(text: string): string {
  if (!text.includes("&lt;")) return text
  return splitCode(text)
    .map((piece) => (piece.code ? piece.text : piece.text.replace(/&lt;(?=[A-Za-z/!?])/g, "<")))
    .join("")
}

const SPLIT_UNIT = /[\r\ud800-\udbff]$/

/** What may settle something that is held: a construct, a run at the end of the text, inline code. */
const TAG_TRIGGER = /[\s<>`~"'=/]/
const RUN_TRIGGER = /[^`]/
const INLINE_CODE_TRIGGER = /[\s`]/

function selectTrigger(held: string): RegExp {
  if (held[0] !== "`") return TAG_TRIGGER
  return findRunEnd(held, 0) === held.length ? RUN_TRIGGER : INLINE_CODE_TRIGGER
}

class ChunkCleaner {
  /** Text that is not settled yet. */
  #text: string
  /** More of it, that cannot change anything before what `#wake` finds. */
  #deferred: string[] = []
  #deferredLength = 0
  #trigger: RegExp
  readonly #writer: CleanWriter
  #spanCount: number
  #openTo: number
  #inRun: boolean
  readonly #code = new InlineCodeFinder()
  readonly #fences = new LineFinder(isFenceLine)
  readonly #html = new HtmlReader()
  /** A paragraph's end, and from where on a run of backticks is surely within MAX_HELD of it in clean text too. */
  #escapeReach = { end: -1, from: -1 }

  constructor(saved: CleanState | undefined) {
    this.#text = saved?.held ?? ""
    this.#trigger = selectTrigger(this.#text)
    this.#writer = new CleanWriter(saved?.outlet)
    this.#spanCount = saved?.spans ?? 0
    this.#openTo = saved?.openTo ?? -1
    this.#inRun = saved?.inRun ?? false
  }

  save(carry: string): CleanState {
    this.#mergeDeferred("")
    return {
      carry,
      held: this.#text,
      spans: this.#spanCount,
      openTo: this.#openTo,
      inRun: this.#inRun,
      outlet: this.#writer.save(),
    }
  }

  cleanChunk(chunk: string, final: boolean): string {
    if (!final && this.#deferChunk(chunk)) return ""
    this.#mergeDeferred(chunk)
    this.#writer.setSource(this.#text)
    let at = 0
    while (at < this.#text.length) {
      const next = this.#writer.isInFence() ? this.#writer.copyFence(at) : this.#settleNext(at, final)
      if (next < 0) {
        at = -1 - next
        break
      }
      at = next
    }
    this.#discardSettled(at)
    return this.#writer.takeOutput()
  }

  /** While what is held waits, text that cannot end the wait is laid aside, so that single characters cost little. */
  #deferChunk(chunk: string): boolean {
    const size = this.#text.length + this.#deferredLength + chunk.length
    const first = this.#text[0]
    if ((first !== "<" && first !== "`") || size >= MAX_PENDING_CHARS || this.#trigger.test(chunk)) return false
    this.#deferred.push(chunk)
    this.#deferredLength += chunk.length
    return true
  }

  #mergeDeferred(chunk: string): void {
    const added = this.#deferred.length === 0 ? chunk : this.#deferred.join("") + chunk
    this.#text = this.#text === "" ? added : this.#text + added
    this.#deferred = []
    this.#deferredLength = 0
  }

  #discardSettled(to: number): void {
    this.#text = this.#text.slice(to)
    this.#code.shift(to)
    this.#fences.shift(to)
    this.#html.shift(to)
    this.#openTo = Math.max(-1, this.#openTo - to)
    this.#escapeReach = { end: -1, from: -1 }
    this.#trigger = selectTrigger(this.#text)
  }

  /** Settles plain text up to the next special thing, and that thing; -1 - index to wait there. */
  #settleNext(at: number, final: boolean): number {
    const text = this.#text
    if (this.#inRun) {
      const end = text[at] === "`" ? findRunEnd(text, at) : at
      this.#inRun = end === text.length
      if (end > at) return this.#writer.copyRange(at, end)
    }
    const next = findSpecial(text, at, final)
    if (next > at) this.#writer.copyRange(at, next)
    if (next === text.length) return next
    const after = this.#handleSpecial(next, final)
    return after === WAIT ? -1 - next : after
  }

  #handleSpecial(at: number, final: boolean): number {
    switch (this.#text[at]) {
      case "<":
        return this.#handleAngleBracket(at, final)
      case "`":
        return this.#handleBackticks(at, final)
      case "~":
        return this.#handleTildes(at, final)
      case "\\":
        return this.#handleBackslash(at, final)
      default:
        return this.#writer.dropTo(at + 1)
    }
  }

  #handleBackslash(at: number, final: boolean): number {
    const text = this.#text
    const next = text[at + 1]
    if (next === undefined && !final) return WAIT
    if (next === undefined || !PUNCTUATION.test(next)) return this.#writer.copyRange(at, at + 1)
    if (next !== "<") {
      this.#writer.copyRange(at, at + 2)
      if (next === "\\") this.#writer.clearLast()
      return at + 2
    }
    if (at + 2 === text.length && !final) return WAIT
    const second = text.charCodeAt(at + 2)
    const isConstruct = isConstructStart(second) || isControl(second)
    return isConstruct ? this.#writer.replaceTo("&lt;", at + 2) : this.#writer.copyRange(at, at + 2)
  }

  #handleTildes(at: number, final: boolean): number {
    const end = findRunEnd(this.#text, at)
    const fence = this.#writer.isAtLineHead() ? this.#tryEnterFence(at, end, final) : TEXT
    return fence === TEXT ? this.#writer.copyRange(at, end) : fence
  }

  /** Enters the fence that opens at `at`, a line's head. */
  #tryEnterFence(at: number, end: number, final: boolean): number {
    if (this.#writer.isAtDirtyHead()) {
      if (end - at < 3) return end === this.#text.length && !final ? WAIT : TEXT
      // Only what was dropped before it makes this a head.
      this.#writer.replaceTo(WORD_JOINER, at)
      return TEXT
    }
    const fence = matchFence(this.#text, at, final, end)
    return fence < 0 ? fence : this.#writer.enterFence(at, end)
  }

  #handleBackticks(at: number, final: boolean): number {
    const text = this.#text
    const end = findRunEnd(text, at)
    const size = end - at
    if (size > MAX_PENDING_CHARS) {
      this.#inRun = end === text.length
      return this.#writer.copyRange(at, end)
    }
    if (end === text.length && !final) return WAIT
    const fence = size >= 3 && this.#writer.isAtLineHead() ? this.#tryEnterFence(at, end, final) : TEXT
    if (fence !== TEXT) return fence
    const closerEnd = this.#code.findCloser(text, at, size, final)
    if (closerEnd === WAIT) return WAIT
    return closerEnd === TEXT ? this.#handleUnclosedBackticks(at, end, final) : this.#writer.copyRange(at, closerEnd)
  }

  /** A run of backticks that opens nothing. Where clean text might see that otherwise, it is escaped. */
  #handleUnclosedBackticks(at: number, end: number, final: boolean): number {
    const size = end - at
    const paragraphEnd = size * 2 > MAX_PENDING_CHARS ? end : this.#findParagraphEnd(at, end, final)
    if (paragraphEnd === WAIT) return WAIT
    if (paragraphEnd === TEXT) return this.#writer.replaceTo("\\`".repeat(size), end)
    // It would be a fence, were not a backtick in the rest of its line, which might be dropped.
    if (size >= 3 && this.#writer.isAtLineHead()) this.#writer.replaceTo(WORD_JOINER, at)
    if (paragraphEnd > end) this.#openTo = paragraphEnd
    return this.#writer.copyRange(at, end)
  }

  /** Where the paragraph of a run ends, if clean text will surely see that end within MAX_HELD too. */
  #findParagraphEnd(at: number, end: number, final: boolean): number {
    const text = this.#text
    const stop = Math.min(text.length, at + MAX_PENDING_CHARS)
    const found = this.#code.paragraphEnds.find(text, end, stop, final)
    if (found === WAIT) return WAIT
    if (found === TEXT && (!final || text.length > stop)) return TEXT
    const paragraphEnd = found === TEXT ? text.length : found
    if (this.#escapeReach.end !== paragraphEnd)
      this.#escapeReach = { end: paragraphEnd, from: findReachStart(text, at, paragraphEnd) }
    return at >= this.#escapeReach.from ? paragraphEnd : TEXT
  }

  #handleAngleBracket(at: number, final: boolean): number {
    const text = this.#text
    if (at + 1 === text.length && !final) return WAIT
    const next = text.charCodeAt(at + 1)
    if (isControl(next)) return this.#writer.replaceTo("&lt;", at + 1)
    if (!isConstructStart(next)) return this.#writer.copyRange(at, at + 1)
    const construct = this.#html.readConstruct(text, at, final)
    if (construct === TEXT) return this.#writer.replaceTo("&lt;", at + 1)
    // A line that opens a fence is never swallowed.
    const end = construct === WAIT ? text.length : construct.end
    const fence = this.#fences.find(text, at, end, final)
    if (fence >= 0) return this.#writer.replaceTo("&lt;", at + 1)
    if (fence === WAIT || construct === WAIT) return WAIT
    return this.#applyConstruct(construct, at)
  }

  #applyConstruct(construct: HtmlConstruct, at: number): number {
    const { end, span } = construct
    const text = span < 0 && this.#spanCount === 0 ? null : construct.text
    this.#spanCount = Math.max(0, this.#spanCount + span)
    if (text !== null && text.length === end - at && this.#text.startsWith(text, at))
      return this.#writer.copyRange(at, end)
    // An open run of backticks before it must not get a longer paragraph.
    if (this.#openTo > at && this.#openTo < end) this.#writer.replaceTo("\n\n", at)
    this.#writer.dropTo(end, text === null)
    return text === null ? end : this.#writer.replaceTo(text, end)
  }
}

/**
 * From where on, in `[at, end)`, the clean text up to `end` fits MAX_HELD for sure. Counted so that clean text itself
 * comes to no more: a `<` may become `&lt;`, and a joiner may come before a backtick.
 */
function findReachStart(text: string, at: number, end: number): number {
  let remaining = MAX_PENDING_CHARS
  let from = end
  while (from > at) {
    const char = text[from - 1]
    if (char === "<") remaining -= 4
    else if (char === "`") remaining -= 2
    else if (char !== WORD_JOINER || text[from] !== "`") remaining -= 1
    if (remaining < 0) return from
    from--
  }
  return from
}
