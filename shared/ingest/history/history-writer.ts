/**
 * history-writer.ts: writes messages from another system's history as records.
 *
 * mapper of a system → WRITER → records → assembler
 * All messages between two questions become one answer with a step per message (SPEC IH1). Only the first record of an
 * answer names the answer, so that a file imported in parts produces the same answer as a whole file. Pure.
 */

import type { StreamRecord } from "../../protocol/record.ts"
import { UNNAMED_TOOL } from "../../protocol/calls/call-args.ts"
import type { TextSize } from "../../truncate.ts"
import { type CallError, type Fields, type Kind, type Outcome, RecordWriter } from "../record-writer.ts"
import { MAX_ID_CHARS, MAX_IMPORTED_CALLS } from "../../limits.ts"
import { toPublicCallId, toPublicId } from "../public-id.ts"
import { KindCounts } from "./kind-counts.ts"
import { valueToJson } from "./value-to-json.ts"

/** A tool result as it appears in a history. */
export interface HistoryResult {
  /** Empty if the history has no ids. In that case, the result belongs to the first open call. */
  readonly callId: string
  /** The name of the tool, if the result contains it. */
  readonly toolName: string
  readonly text: string
  /** Null if the call succeeded. */
  readonly error: CallError | null
  /** The size of the whole result, if the producer shortened it. */
  readonly size: TextSize | null
}

/** The messages of a conversation that are imported, and the number of messages in its other branches. */
export interface Branch {
  readonly messages: readonly Fields[]
  readonly others: number
}

interface OpenAnswer {
  /** The id that the answer's first record names. Null if this continues an answer from an earlier part of the file. */
  id: string | null
  readonly records: RecordWriter
  hasRecords: boolean
  isCancelled: boolean
  outcome: Outcome | null
  /** Identifies the message of the current step. A different message begins the next step. */
  stepKey: string
  /** The public ids of the answer's calls, by their ids in the file. */
  readonly publicIds: Map<string, string>
  /** For each public id, the number of calls whose public ids are derived from it. */
  readonly uses: Map<string, number>
  /** The names of the calls without a result, by public id. */
  readonly openCalls: Map<string, string>
  /** The public ids of results that came before their calls. */
  readonly orphans: Set<string>
  /** A digest of each settled call's result, to recognise repeated results. */
  readonly settledDigests: Map<string, string>
}

/** Maximum number of open calls that are searched for a given name. */
const MAX_NAME_LOOKUPS = 32
/** Maximum number of remembered call names from earlier answers, for results that arrive late. */
const MAX_REMEMBERED_NAMES = 1_000

/** Maximum number of message ids that are remembered. Any further message is named after its line. */
const MAX_REMEMBERED_IDS = 50_000

export class HistoryWriter {
  readonly kinds = new KindCounts()
  #records: StreamRecord[] = []
  #answer: OpenAnswer | null = null
  /**
   * True in a later part of a file until its first question or answer has been read: anything before that may continue
   * an answer from an earlier part.
   */
  #isContinuation: boolean
  #lineName = ""
  #timestamp: string | null = null
  readonly #usedIds = new Set<string>()
  readonly #callNames = new Map<string, string>()

  /**
   * The title that the file gives the conversation. If there are several titles, the last one counts. Empty if there is
   * none.
   */
  title = ""

  constructor(isFirstPart: boolean) {
    this.#isContinuation = !isFirstPart
  }

  /**
   * Sets the line that the next records come from, and their time. The order in the file takes precedence over times.
   */
  beginMessage(lineName: string, timestamp: string | null): void {
    this.#flush()
    this.#lineName = lineName
    // Times in ISO 8601 and UTC can be compared as text.
    if (timestamp !== null && (this.#timestamp === null || timestamp > this.#timestamp)) this.#timestamp = timestamp
  }

  /** Adds a user's message, which ends the preceding answer. */
  writeQuestion(text: string, id: string): void {
    this.#closeAnswer()
    this.#isContinuation = false
    this.#records.push({ type: "user_message", responseId: this.#chooseId(id), ...this.#time(), text })
  }

  /** Continues the open answer, or begins one. A different `stepKey` begins a new step. */
  beginStep(stepKey: string, id = ""): void {
    const answer = this.#openAnswer(id)
    answer.outcome = null
    answer.isCancelled = false
    if (answer.stepKey === stepKey && stepKey !== "") return
    answer.stepKey = stepKey
    answer.records.nextStep()
  }

  /** Adds text and leaves its part open. */
  writeDelta(kind: Kind, text: string): void {
    if (text === "") return
    this.#openAnswer("").records.writeText(kind, text)
  }

  endPart(kind: Kind): void {
    this.#answer?.records.closePart(kind)
  }

  /** Adds complete text as a separate part. */
  writePart(kind: Kind, text: string): void {
    if (text === "") return
    this.endPart(kind)
    this.writeDelta(kind, text)
    this.endPart(kind)
  }

  writeCall(callId: string, toolName: string, args: unknown): void {
    const answer = this.#openAnswer("")
    const known = answer.publicIds.get(callId)
    const json = typeof args === "string" ? args : valueToJson(args ?? {})
    this.#rememberName(callId, toolName)
    // A call that is repeated before its result arrives is the same call, and so is a call that comes after its own
    // result.
    if (callId !== "" && known !== undefined && (answer.openCalls.has(known) || answer.orphans.delete(known))) {
      return answer.records.fillCall(known, toolName, json)
    }
    const id = this.#assignCallId(answer, callId)
    if (id === null) return this.kinds.addKnown("call")
    answer.openCalls.set(id, toolName)
    answer.records.writeCall(id, toolName, json)
  }

  /** Adds a result to its call. A result without a call, or a second result, becomes a separate block (SPEC IH3). */
  writeResult(result: HistoryResult): void {
    const answer = this.#openAnswer("")
    const id = this.#findResultCall(answer, result)
    if (id === null) return
    answer.openCalls.delete(id)
    answer.settledDigests.set(id, digestText(result.text))
    const { text, error, size } = result
    answer.records.writeResult(id, error === null, text, error ?? undefined, size)
  }

  /** Records how the open answer ended, if its last message says so. */
  setOutcome(outcome: Outcome): void {
    this.#openAnswer("").outcome = outcome
  }

  cancelAnswer(): void {
    if (this.hasOpenAnswer()) this.#openAnswer("").isCancelled = true
  }

  /** Returns whether an answer is open, in this part of the file or from an earlier part. */
  hasOpenAnswer(): boolean {
    return this.#answer !== null || this.#isContinuation
  }

  /** Adds records that another mapper has written to the open answer. */
  appendRecords(records: readonly StreamRecord[]): void {
    if (records.length === 0) return
    const answer = this.#openAnswer("")
    this.#flush()
    for (const record of records) this.#push(answer, record)
  }

  /** Returns the records since the last call. */
  drainRecords(): StreamRecord[] {
    this.#flush()
    const drained = this.#records
    this.#records = []
    return drained
  }

  /** Ends the last answer. */
  end(): StreamRecord[] {
    this.#closeAnswer()
    return this.drainRecords()
  }

  #time(): { readonly timestamp?: string } {
    return this.#timestamp === null ? {} : { timestamp: this.#timestamp }
  }

  #openAnswer(id: string): OpenAnswer {
    if (this.#answer !== null) return this.#answer
    const isContinuation = this.#isContinuation
    this.#isContinuation = false
    this.#answer = {
      id: isContinuation ? null : this.#chooseId(id),
      records: new RecordWriter(),
      hasRecords: false,
      isCancelled: false,
      outcome: null,
      stepKey: isContinuation ? "continued" : "",
      publicIds: new Map(),
      uses: new Map(),
      openCalls: new Map(),
      orphans: new Set(),
      settledDigests: new Map(),
    }
    return this.#answer
  }

  /** Returns the id that the file gives a message, or a new one if that id is missing or another message has it. */
  #chooseId(given: string): string {
    const id = toPublicId(given) ?? ""
    // When the set is full, repeated ids could no longer be recognised, so no more ids from the file are used.
    const isFree = id !== "" && this.#usedIds.size < MAX_REMEMBERED_IDS && !this.#usedIds.has(id)
    if (isFree) this.#usedIds.add(id)
    return isFree ? id : `imported-${this.#lineName}`
  }

  #closeAnswer(): void {
    const answer = this.#answer
    if (answer === null) return
    this.#flush()
    if (answer.isCancelled) this.#push(answer, { type: "output_cancelled" })
    if (answer.outcome !== null) {
      answer.records.setOutcome(answer.outcome)
      for (const record of answer.records.finishAnswer(null)) this.#push(answer, record)
    }
    // An answer without content still becomes a message.
    if (!answer.hasRecords) this.#push(answer, { type: "assistant_message", text: "" })
    this.#answer = null
  }

  #flush(): void {
    const answer = this.#answer
    if (answer === null) return
    for (const record of answer.records.drainRecords()) this.#push(answer, record)
  }

  #push(answer: OpenAnswer, record: StreamRecord): void {
    const name = answer.hasRecords || answer.id === null ? {} : { responseId: answer.id }
    answer.hasRecords = true
    this.#records.push({ ...record, ...name, ...this.#time() })
  }

  /**
   * Returns a public id that no other call of the answer has, because some systems number the calls of each message
   * from 0. Returns null if the answer already has MAX_IMPORTED_CALLS calls.
   */
  #assignCallId(answer: OpenAnswer, callId: string): string | null {
    if (answer.uses.size >= MAX_IMPORTED_CALLS) return null
    const base = toPublicCallId(callId)
    let id = base
    let count = answer.uses.get(base) ?? 0
    while (answer.uses.has(id)) {
      count += 1
      const end = `-${count}`
      id = `${base.slice(0, MAX_ID_CHARS - end.length)}${end}`
    }
    answer.uses.set(base, Math.max(count, 1))
    if (id !== base) answer.uses.set(id, 1)
    answer.publicIds.set(callId, id)
    return id
  }

  /**
   * Returns the public id of the call that a result belongs to; null if the same result was already written, or the
   * answer has too many calls.
   */
  #findResultCall(answer: OpenAnswer, { callId, toolName, text }: HistoryResult): string | null {
    if (callId === "") {
      const open = findOpenCall(answer.openCalls, toolName)
      if (open !== null) return open
    }
    const known = callId === "" ? undefined : answer.publicIds.get(callId)
    if (known !== undefined && answer.openCalls.has(known)) return known
    if (known !== undefined && answer.settledDigests.get(known) === digestText(text)) return null
    const id = this.#assignCallId(answer, callId)
    if (id === null) {
      // The result of a dropped call is not counted, because its call already was.
      if (!this.#callNames.has(callId)) this.kinds.addKnown("call")
      return null
    }
    // Only a result whose call can still follow is an orphan: the call is not in an earlier answer or an earlier part
    // of the file.
    if (known === undefined && answer.id !== null && !this.#callNames.has(callId)) answer.orphans.add(id)
    answer.records.writeCall(id, toolName || this.#callNames.get(callId) || UNNAMED_TOOL, "{}")
    return id
  }

  #rememberName(callId: string, toolName: string): void {
    if (callId === "" || (toolName === UNNAMED_TOOL && this.#callNames.has(callId))) return
    this.#callNames.delete(callId)
    this.#callNames.set(callId, toolName)
    const [oldest] = this.#callNames.keys()
    if (this.#callNames.size > MAX_REMEMBERED_NAMES && oldest !== undefined) this.#callNames.delete(oldest)
  }
}

/** Returns the first open call with this name, or the first open call if `toolName` is empty. */
function findOpenCall(openCalls: ReadonlyMap<string, string>, toolName: string): string | null {
  let looked = 0
  for (const [id, name] of openCalls) {
    if (toolName === "" || name === toolName) return id
    looked += 1
    if (looked === MAX_NAME_LOOKUPS) return null
  }
  return null
}

/** Returns the length and a 32-bit hash. Texts with the same digest are considered equal. */
function digestText(text: string): string {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return `${text.length} ${hash}`
}
