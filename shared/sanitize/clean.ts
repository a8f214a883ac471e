/**
 * clean.ts: model text in, clean Markdown out, piece by piece.
 *
 * model → CLEAN → event → fold
 * The one chokepoint for every text and thinking delta, before anything is stored (DESIGN §5). Code is left alone; of
 * HTML only bare formatting and `<span id='tool_n'>` stay; what is no HTML stays readable.
 * Pure. Any cut gives the same text, and clean text is not changed by cleaning (SPEC CL9).
 */

import { CodeSpans, LineFinder, splitCode } from "../text/code-tracker.ts"
import { type Construct, HtmlReader } from "./html-policy.ts"
import { MAX_HELD } from "../limits.ts"
import { fenceAt, opensFence, runEnd, TEXT, WAIT } from "../text/fence.ts"
import { JOINER, Outlet, type OutletState } from "./clean-writer.ts"
import { isControl, isStarter, normalize, PUNCTUATION, specialAfter } from "./characters.ts"

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
  readonly outlet: OutletState
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
  const sweeper = new Sweeper(saved)
  let carry = saved?.carry ?? ""
  return {
    push(text) {
      const all = carry + text
      carry = CARRY.test(all) ? all.slice(-1) : ""
      return sweeper.sweep(normalize(carry === "" ? all : all.slice(0, -1)), false)
    },
    end() {
      const rest = normalize(carry)
      carry = ""
      return sweeper.sweep(rest, true)
    },
    save: () => sweeper.save(carry),
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

const CARRY = /[\r\ud800-\udbff]$/

/** What may settle something that is held: a construct, a run at the end of the text, inline code. */
const WAKE_IN_TAG = /[\s<>`~"'=/]/
const WAKE_IN_RUN = /[^`]/
const WAKE_BEHIND_RUN = /[\s`]/

function wakeOf(held: string): RegExp {
  if (held[0] !== "`") return WAKE_IN_TAG
  return runEnd(held, 0) === held.length ? WAKE_IN_RUN : WAKE_BEHIND_RUN
}

class Sweeper {
  /** Text that is not settled yet. */
  #text: string
  /** More of it, that cannot change anything before what `#wake` finds. */
  #aside: string[] = []
  #asideSize = 0
  #wake: RegExp
  readonly #outlet: Outlet
  #spanCount: number
  #openTo: number
  #inRun: boolean
  readonly #code = new CodeSpans()
  readonly #fences = new LineFinder(opensFence)
  readonly #html = new HtmlReader()
  /** A paragraph's end, and from where on a run of backticks is surely within MAX_HELD of it in clean text too. */
  #reach = { end: -1, from: -1 }

  constructor(saved: CleanState | undefined) {
    this.#text = saved?.held ?? ""
    this.#wake = wakeOf(this.#text)
    this.#outlet = new Outlet(saved?.outlet)
    this.#spanCount = saved?.spans ?? 0
    this.#openTo = saved?.openTo ?? -1
    this.#inRun = saved?.inRun ?? false
  }

  save(carry: string): CleanState {
    this.#gather("")
    return {
      carry,
      held: this.#text,
      spans: this.#spanCount,
      openTo: this.#openTo,
      inRun: this.#inRun,
      outlet: this.#outlet.save(),
    }
  }

  sweep(more: string, final: boolean): string {
    if (!final && this.#sleeps(more)) return ""
    this.#gather(more)
    this.#outlet.read(this.#text)
    let at = 0
    while (at < this.#text.length) {
      const next = this.#outlet.isInFence() ? this.#outlet.keepCode(at) : this.#step(at, final)
      if (next < 0) {
        at = -1 - next
        break
      }
      at = next
    }
    this.#forget(at)
    return this.#outlet.take()
  }

  /** While what is held waits, text that cannot end the wait is laid aside, so that single characters cost little. */
  #sleeps(more: string): boolean {
    const size = this.#text.length + this.#asideSize + more.length
    const first = this.#text[0]
    if ((first !== "<" && first !== "`") || size >= MAX_HELD || this.#wake.test(more)) return false
    this.#aside.push(more)
    this.#asideSize += more.length
    return true
  }

  #gather(more: string): void {
    const aside = this.#aside.length === 0 ? more : this.#aside.join("") + more
    this.#text = this.#text === "" ? aside : this.#text + aside
    this.#aside = []
    this.#asideSize = 0
  }

  #forget(to: number): void {
    this.#text = this.#text.slice(to)
    this.#code.shift(to)
    this.#fences.shift(to)
    this.#html.shift(to)
    this.#openTo = Math.max(-1, this.#openTo - to)
    this.#reach = { end: -1, from: -1 }
    this.#wake = wakeOf(this.#text)
  }

  /** Settles plain text up to the next special thing, and that thing; -1 - index to wait there. */
  #step(at: number, final: boolean): number {
    const text = this.#text
    if (this.#inRun) {
      const end = text[at] === "`" ? runEnd(text, at) : at
      this.#inRun = end === text.length
      if (end > at) return this.#outlet.keep(at, end)
    }
    const next = specialAfter(text, at, final)
    if (next > at) this.#outlet.keep(at, next)
    if (next === text.length) return next
    const after = this.#special(next, final)
    return after === WAIT ? -1 - next : after
  }

  #special(at: number, final: boolean): number {
    switch (this.#text[at]) {
      case "<":
        return this.#angle(at, final)
      case "`":
        return this.#ticks(at, final)
      case "~":
        return this.#tildes(at, final)
      case "\\":
        return this.#backslash(at, final)
      default:
        return this.#outlet.drop(at + 1)
    }
  }

  #backslash(at: number, final: boolean): number {
    const text = this.#text
    const next = text[at + 1]
    if (next === undefined && !final) return WAIT
    if (next === undefined || !PUNCTUATION.test(next)) return this.#outlet.keep(at, at + 1)
    if (next !== "<") {
      this.#outlet.keep(at, at + 2)
      if (next === "\\") this.#outlet.spend()
      return at + 2
    }
    if (at + 2 === text.length && !final) return WAIT
    const second = text.charCodeAt(at + 2)
    const starts = isStarter(second) || isControl(second)
    return starts ? this.#outlet.put("&lt;", at + 2) : this.#outlet.keep(at, at + 2)
  }

  #tildes(at: number, final: boolean): number {
    const end = runEnd(this.#text, at)
    const fence = this.#outlet.isHead() ? this.#fenceAt(at, end, final) : TEXT
    return fence === TEXT ? this.#outlet.keep(at, end) : fence
  }

  /** Enters the fence that opens at `at`, a line's head. */
  #fenceAt(at: number, end: number, final: boolean): number {
    if (this.#outlet.isDirtyHead()) {
      if (end - at < 3) return end === this.#text.length && !final ? WAIT : TEXT
      // Only what was dropped before it makes this a head.
      this.#outlet.put(JOINER, at)
      return TEXT
    }
    const fence = fenceAt(this.#text, at, final, end)
    return fence < 0 ? fence : this.#outlet.enterFence(at, end)
  }

  #ticks(at: number, final: boolean): number {
    const text = this.#text
    const end = runEnd(text, at)
    const size = end - at
    if (size > MAX_HELD) {
      this.#inRun = end === text.length
      return this.#outlet.keep(at, end)
    }
    if (end === text.length && !final) return WAIT
    const fence = size >= 3 && this.#outlet.isHead() ? this.#fenceAt(at, end, final) : TEXT
    if (fence !== TEXT) return fence
    const closed = this.#code.closerOf(text, at, size, final)
    if (closed === WAIT) return WAIT
    return closed === TEXT ? this.#openTicks(at, end, final) : this.#outlet.keep(at, closed)
  }

  /** A run of backticks that opens nothing. Where clean text might see that otherwise, it is escaped. */
  #openTicks(at: number, end: number, final: boolean): number {
    const size = end - at
    const paragraph = size * 2 > MAX_HELD ? end : this.#paragraphOf(at, end, final)
    if (paragraph === WAIT) return WAIT
    if (paragraph === TEXT) return this.#outlet.put("\\`".repeat(size), end)
    // It would be a fence, were not a backtick in the rest of its line, which might be dropped.
    if (size >= 3 && this.#outlet.isHead()) this.#outlet.put(JOINER, at)
    if (paragraph > end) this.#openTo = paragraph
    return this.#outlet.keep(at, end)
  }

  /** Where the paragraph of a run ends, if clean text will surely see that end within MAX_HELD too. */
  #paragraphOf(at: number, end: number, final: boolean): number {
    const text = this.#text
    const stop = Math.min(text.length, at + MAX_HELD)
    const found = this.#code.paragraphs.find(text, end, stop, final)
    if (found === WAIT) return WAIT
    if (found === TEXT && (!final || text.length > stop)) return TEXT
    const paragraph = found === TEXT ? text.length : found
    if (this.#reach.end !== paragraph) this.#reach = { end: paragraph, from: reachOf(text, at, paragraph) }
    return at >= this.#reach.from ? paragraph : TEXT
  }

  #angle(at: number, final: boolean): number {
    const text = this.#text
    if (at + 1 === text.length && !final) return WAIT
    const next = text.charCodeAt(at + 1)
    if (isControl(next)) return this.#outlet.put("&lt;", at + 1)
    if (!isStarter(next)) return this.#outlet.keep(at, at + 1)
    const construct = this.#html.read(text, at, final)
    if (construct === TEXT) return this.#outlet.put("&lt;", at + 1)
    // A line that opens a fence is never swallowed.
    const end = construct === WAIT ? text.length : construct.end
    const fence = this.#fences.find(text, at, end, final)
    if (fence >= 0) return this.#outlet.put("&lt;", at + 1)
    if (fence === WAIT || construct === WAIT) return WAIT
    return this.#apply(construct, at)
  }

  #apply(construct: Construct, at: number): number {
    const { end, span } = construct
    const text = span < 0 && this.#spanCount === 0 ? null : construct.text
    this.#spanCount = Math.max(0, this.#spanCount + span)
    if (text !== null && text.length === end - at && this.#text.startsWith(text, at)) return this.#outlet.keep(at, end)
    // An open run of backticks before it must not get a longer paragraph.
    if (this.#openTo > at && this.#openTo < end) this.#outlet.put("\n\n", at)
    this.#outlet.drop(end, text === null)
    return text === null ? end : this.#outlet.put(text, end)
  }
}

/**
 * From where on, in `[at, end)`, the clean text up to `end` fits MAX_HELD for sure. Counted so that clean text itself
 * comes to no more: a `<` may become `&lt;`, and a joiner may come before a backtick.
 */
function reachOf(text: string, at: number, end: number): number {
  let room = MAX_HELD
  let from = end
  while (from > at) {
    const char = text[from - 1]
    if (char === "<") room -= 4
    else if (char === "`") room -= 2
    else if (char !== JOINER || text[from] !== "`") room -= 1
    if (room < 0) return from
    from--
  }
  return from
}
