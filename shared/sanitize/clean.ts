/**
 * clean.ts: sanitises model text. The result is Markdown that is safe to store and to show.
 *
 * model → CLEAN → event → fold
 * Every text and thinking delta is sanitised before it is stored. Code is unchanged. The only HTML that remains is
 * formatting tags without attributes and `<span id='tool_n'>`; text that only looks like HTML remains readable. The
 * result does not depend on how the text was split into chunks, and sanitising it again changes nothing (SPEC CL9).
 */

import { InlineCodeFinder, LineFinder, splitCode } from "../text/code-tracker.ts"
import { type HtmlConstruct, HtmlReader } from "./html-policy.ts"
import { MAX_PENDING_CHARS } from "../limits.ts"
import { matchFence, isFenceLine, findRunEnd, TEXT, WAIT } from "../text/fence.ts"
import { WORD_JOINER, CleanWriter, type CleanWriterState } from "./clean-writer.ts"
import { isControl, isConstructStart, normalizeText, PUNCTUATION, findSpecial } from "../text/characters.ts"

/** The state from which a new cleaner can continue, even inside a tag. It is plain JSON of at most a few KB. */
export interface CleanState {
  /** A CR or a high surrogate at the end of the text, which may be the first half of a pair. */
  readonly carry: string
  /** Text that can't be sanitised yet. */
  readonly held: string
  /** 0 outside a span with a tag id; inside one, 1 plus the number of open spans without a tag id. */
  readonly spans: number
  /** The index in `held` at which the paragraph of an unclosed run of backticks ends, or -1. */
  readonly openTo: number
  /** Whether the text continues a run of backticks that is too long to be code. */
  readonly inRun: boolean
  readonly outlet: CleanWriterState
}

export interface Cleaner {
  push(text: string): string
  /** Ends the text and returns the rest of the sanitised text. */
  end(): string
  save(): CleanState
}

/**
 * Creates a cleaner for growing text. Each `push` returns sanitised text. Part of the input may be buffered, at most a
 * few MAX_PENDING_CHARS. Malformed HTML becomes text. Cost: one pass, even for hostile text. SPEC CL1–CL10.
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

/** Sanitises complete text. */
export function clean(text: string): string {
  const cleaner = createCleaner()
  return cleaner.push(text) + cleaner.end()
}

/**
 * Converts `&lt;` outside code back to `<`, so that the text reads as it was written. Use this function only for model
 * input and plain text (`plainText`): the result must never be stored, or rendered as Markdown or HTML.
 */
export function cleanToModel(text: string): string {
  if (!text.includes("&lt;")) return text
  return splitCode(text)
    .map((block) => (block.code ? block.text : block.text.replace(/&lt;(?=[A-Za-z/!?])/g, "<")))
    .join("")
}

const SPLIT_UNIT = /[\r\ud800-\udbff]$/

/**
 * The characters that can decide what held text is: an HTML construct, a run at the end of the text, or inline code, in
 * this order.
 */
const TAG_TRIGGER = /[\s<>`~"'=/]/
const RUN_TRIGGER = /[^`]/
const INLINE_CODE_TRIGGER = /[\s`]/

function selectTrigger(held: string): RegExp {
  if (held[0] !== "`") return TAG_TRIGGER
  return findRunEnd(held, 0) === held.length ? RUN_TRIGGER : INLINE_CODE_TRIGGER
}

class ChunkCleaner {
  /** Text that can't be sanitised yet. */
  #text: string
  /** Further chunks, which cannot decide anything because `#trigger` does not match any of them. */
  #deferred: string[] = []
  #deferredLength = 0
  #trigger: RegExp
  readonly #writer: CleanWriter
  /** 0 outside a span with a tag id; inside one, 1 plus the number of open spans without a tag id. */
  #spanDepth: number
  #openTo: number
  #inRun: boolean
  readonly #code = new InlineCodeFinder()
  readonly #fences = new LineFinder(isFenceLine)
  readonly #html = new HtmlReader()
  /**
   * `end`: the end of a paragraph. `from`: the first index from which the sanitised text up to `end` fits into
   * MAX_PENDING_CHARS.
   */
  #escapeReach = { end: -1, from: -1 }

  constructor(saved: CleanState | undefined) {
    this.#text = saved?.held ?? ""
    this.#trigger = selectTrigger(this.#text)
    this.#writer = new CleanWriter(saved?.outlet)
    this.#spanDepth = saved?.spans ?? 0
    this.#openTo = saved?.openTo ?? -1
    this.#inRun = saved?.inRun ?? false
  }

  save(carry: string): CleanState {
    this.#mergeDeferred("")
    return {
      carry,
      held: this.#text,
      spans: this.#spanDepth,
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

  /**
   * Stores a chunk if it cannot decide what the held text is; otherwise returns false. Without this, sanitising text
   * that arrives one character at a time would be slow.
   */
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

  /**
   * Sanitises the text up to and including the next special character. Returns the index after it, or -1 - index to
   * wait at that index.
   */
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

  /** Enters the fence that opens at `at`, in the head of a line. */
  #tryEnterFence(at: number, end: number, final: boolean): number {
    if (this.#writer.isAtDirtyHead()) {
      if (end - at < 3) return end === this.#text.length && !final ? WAIT : TEXT
      // The run is in the head of its line only because text before the run was removed.
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

  /** Handles a run of backticks that opens no code. The run is escaped if it could open code in the sanitised text. */
  #handleUnclosedBackticks(at: number, end: number, final: boolean): number {
    const size = end - at
    const paragraphEnd = size * 2 > MAX_PENDING_CHARS ? end : this.#findParagraphEnd(at, end, final)
    if (paragraphEnd === WAIT) return WAIT
    if (paragraphEnd === TEXT) return this.#writer.replaceTo("\\`".repeat(size), end)
    // Only a backtick later in the line prevents the run from opening a fence, and that backtick may be removed.
    if (size >= 3 && this.#writer.isAtLineHead()) this.#writer.replaceTo(WORD_JOINER, at)
    if (paragraphEnd > end) this.#openTo = paragraphEnd
    return this.#writer.copyRange(at, end)
  }

  /**
   * Returns the end of a run's paragraph if that end is certainly within MAX_PENDING_CHARS in the sanitised text as
   * well; otherwise TEXT or WAIT.
   */
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
    // A construct never includes a line that opens a fence.
    const end = construct === WAIT ? text.length : construct.end
    const fence = this.#fences.find(text, at, end, final)
    if (fence >= 0) return this.#writer.replaceTo("&lt;", at + 1)
    if (fence === WAIT || construct === WAIT) return WAIT
    // In indented code, a tag is literal text, so it is escaped and not removed.
    if (construct.text === null && construct.span === 0 && this.#writer.isInIndentedLine())
      return this.#writer.replaceTo("&lt;", at + 1)
    return this.#applyConstruct(construct, at)
  }

  #applyConstruct(construct: HtmlConstruct, at: number): number {
    const { end } = construct
    const text = construct.span === 0 ? construct.text : this.#applySpanTag(construct)
    if (text !== null && text.length === end - at && this.#text.startsWith(text, at))
      return this.#writer.copyRange(at, end)
    // Removing a paragraph's end must not extend the paragraph of an unclosed run of backticks.
    if (this.#openTo > at && this.#openTo < end) this.#writer.replaceTo("\n\n", at)
    this.#writer.dropTo(end, text === null, construct.isBreak)
    return text === null ? end : this.#writer.replaceTo(text, end)
  }

  /**
   * Returns the replacement for an opening or closing span tag, or null. The first `</span>` that is kept ends the span
   * with a tag id, so a span without a tag id is removed together with its own `</span>` (SPEC CL2, SG7).
   */
  #applySpanTag({ text, span }: HtmlConstruct): string | null {
    if (span > 0) {
      if (text === null) this.#spanDepth += this.#spanDepth > 0 ? 1 : 0
      else this.#spanDepth = Math.max(1, this.#spanDepth)
      return text
    }
    const isEnd = this.#spanDepth === 1
    this.#spanDepth = Math.max(0, this.#spanDepth - 1)
    return isEnd ? text : null
  }
}

/**
 * Returns the first index in `[at, end)` from which the sanitised text up to `end` certainly has at most
 * MAX_PENDING_CHARS. Assumes the worst case: `<` may become `&lt;`, and a word joiner may precede a backtick.
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
