/**
 * app-bridge.ts: the messages between the page and an MCP App (JSON-RPC 2.0, MCP Apps version 2026-01-26). Pure.
 *
 * An app is untrusted. Every message is checked and bounded, and the user or the server decides on every request from
 * the app. Source: SPEC MA5 to MA8.
 */

import { isJsonObject, type Json, parseJson } from "../../shared/json.ts"
import { INVISIBLE_CHARS } from "../../shared/protocol/asset.ts"

export type JsonObject = { readonly [key: string]: Json }

/** What an app asks the user to allow. */
export type AppRequest =
  | { readonly kind: "link"; readonly url: string }
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "call"; readonly tool: string; readonly args: JsonObject }

export interface AppHost {
  /** Sends a message to the app. */
  post(message: JsonObject): void
  /** Asks the user. Resolves with true if the user allows the request. */
  ask(request: AppRequest): Promise<boolean>
  /**
   * Calls a tool of the app's server. Resolves with null if the user has to allow the call. Rejects if the call fails.
   */
  callTool(tool: string, args: JsonObject, allowed: boolean): Promise<JsonObject | null>
  sendMessage(text: string): void
  /** `height` is in CSS pixels. */
  resize(height: number): void
  /** The theme, the language and the available size. */
  readContext(): JsonObject
  now(): number
}

/** The call whose result the app shows. */
export interface AppCall {
  readonly name: string
  /** JSON text, possibly truncated. */
  readonly args: string
  readonly result?: string
}

const PROTOCOL_VERSION = "2026-01-26"
const MAX_TEXT_CHARS = 64 * 1024
const MAX_DEPTH = 32
const MAX_URL_CHARS = 2_048
const MAX_MESSAGE_CHARS = 4_000
/** The smallest and the largest height of an app, in CSS pixels. */
export const MIN_APP_HEIGHT = 60
export const MAX_APP_HEIGHT = 900
/** After this many refusals, the user is not asked again. */
const MAX_REFUSALS = 3
/** Maximum number of tool calls by an app per minute. */
const MAX_CALLS = 30
const MINUTE_MS = 60_000
const METHOD_UNKNOWN = -32_601
const PARAMS_INVALID = -32_602
const REFUSED = -32_000
const TOOL_NAME = /^[\w./-]{1,128}$/

/** A JSON-RPC error. Its message is for the app's developer. */
class AppError extends Error {
  readonly code: number
  constructor(code: number, text: string) {
    super(text)
    this.code = code
  }
}

export class AppBridge {
  readonly #host: AppHost
  readonly #call: AppCall
  #isInitialized = false
  #isAsking = false
  #refusals = 0
  #calls: number[] = []

  constructor(host: AppHost, call: AppCall) {
    this.#host = host
    this.#call = call
  }

  /** Handles a message from the app, given as JSON text. Anything that isn't a valid message is ignored. */
  receive(text: string): void {
    const message = text.length > MAX_TEXT_CHARS ? undefined : parseJson(text, MAX_DEPTH)
    if (!isJsonObject(message)) return
    const { jsonrpc, id, method, params = {} } = message
    if (jsonrpc !== "2.0" || typeof method !== "string" || !isJsonObject(params)) return
    const checked = params as JsonObject
    if (id === undefined) this.#notice(method, checked)
    else if (isMessageId(id)) void this.#respond(id, method, checked)
  }

  /** Tells the app that the theme, the language or its available size has changed. */
  updateContext(): void {
    if (this.#isInitialized) this.#notify("ui/notifications/host-context-changed", this.#host.readContext())
  }

  #notice(method: string, params: JsonObject): void {
    if (method === "ui/notifications/size-changed") {
      const { height } = params
      if (typeof height === "number" && height > 0)
        this.#host.resize(Math.round(Math.min(Math.max(height, MIN_APP_HEIGHT), MAX_APP_HEIGHT)))
    }
    if (method !== "ui/notifications/initialized" || this.#isInitialized) return
    this.#isInitialized = true
    this.#notify("ui/notifications/tool-input", { arguments: parseArgs(this.#call.args) })
    this.#notify("ui/notifications/tool-result", resultToContent(this.#call.result ?? ""))
  }

  async #respond(id: string | number, method: string, params: JsonObject): Promise<void> {
    try {
      this.#post({ id, result: await this.#answer(method, params) })
    } catch (error) {
      const [code, message] = error instanceof AppError ? [error.code, error.message] : [REFUSED, "It failed."]
      this.#post({ id, error: { code, message } })
    }
  }

  async #answer(method: string, params: JsonObject): Promise<JsonObject> {
    switch (method) {
      case "ui/initialize":
        return this.#describeHost()
      case "ping":
        return {}
      case "ui/request-display-mode":
        return { mode: "inline" }
      case "ui/open-link":
        // The user's own click on the link opens it.
        return (await this.#ask({ kind: "link", url: readUrl(params) })) ? {} : { isError: true }
      case "ui/message":
        return await this.#sendMessage(readMessage(params))
      case "tools/call":
        return await this.#callTool(params)
      default:
        throw new AppError(METHOD_UNKNOWN, "Method not found")
    }
  }

  #describeHost(): JsonObject {
    const tool = { name: this.#call.name, inputSchema: { type: "object" } }
    return {
      protocolVersion: PROTOCOL_VERSION,
      hostInfo: { name: "cuecard", version: "1" },
      hostCapabilities: { openLinks: {}, serverTools: {}, message: { text: {} } },
      hostContext: { ...this.#host.readContext(), toolInfo: { tool } },
    }
  }

  async #sendMessage(text: string): Promise<JsonObject> {
    if (!(await this.#ask({ kind: "message", text }))) return { isError: true }
    this.#host.sendMessage(text)
    return {}
  }

  async #callTool({ name, arguments: args = {} }: JsonObject): Promise<JsonObject> {
    if (typeof name !== "string" || !TOOL_NAME.test(name) || !isJsonObject(args))
      throw new AppError(PARAMS_INVALID, "Invalid params")
    const checked = args as JsonObject
    this.#countCall()
    const result = await this.#host.callTool(name, checked, false)
    if (result !== null) return result
    if (!(await this.#ask({ kind: "call", tool: name, args: checked }))) throw new AppError(REFUSED, "Not allowed")
    return (await this.#host.callTool(name, checked, true)) ?? {}
  }

  #countCall(): void {
    const now = this.#host.now()
    this.#calls = this.#calls.filter((at) => now - at < MINUTE_MS)
    if (this.#calls.length >= MAX_CALLS) throw new AppError(REFUSED, "Too many calls")
    this.#calls.push(now)
  }

  /** Asks the user one question at a time, and none after MAX_REFUSALS refusals. */
  async #ask(request: AppRequest): Promise<boolean> {
    if (this.#isAsking || this.#refusals >= MAX_REFUSALS) return false
    this.#isAsking = true
    const isAllowed = await this.#host.ask(request)
    this.#isAsking = false
    if (!isAllowed) this.#refusals++
    return isAllowed
  }

  #notify(method: string, params: JsonObject): void {
    this.#post({ method, params })
  }

  #post(message: JsonObject): void {
    this.#host.post({ jsonrpc: "2.0", ...message })
  }
}

function isMessageId(id: unknown): id is string | number {
  return typeof id === "number" || (typeof id === "string" && id.length <= 200)
}

/** Returns the URL of a link. Only https URLs without credentials are allowed; other schemes could start programs. */
function readUrl({ url }: JsonObject): string {
  if (typeof url !== "string" || url.length > MAX_URL_CHARS || !URL.canParse(url))
    throw new AppError(PARAMS_INVALID, "Invalid params")
  const { protocol, href, username, password } = new URL(url)
  if (protocol !== "https:" || username + password !== "") throw new AppError(REFUSED, "Only https links can be opened")
  return href
}

function readMessage({ role, content }: JsonObject): string {
  const blocks = Array.isArray(content) ? content : []
  const texts = blocks.map((block: unknown) => (isJsonObject(block) && block["type"] === "text" ? block["text"] : null))
  const text = removeInvisible(texts.join("\n")).trim()
  const isText = texts.every((item) => typeof item === "string")
  if (role !== "user" || !isText || text === "" || text.length > MAX_MESSAGE_CHARS)
    throw new AppError(PARAMS_INVALID, "Invalid params")
  return text
}

/** Removes invisible characters, because the user must see everything that a model will read. Line endings are kept. */
function removeInvisible(text: string): string {
  return text.replace(INVISIBLE_CHARS, (character) => (character === "\n" ? "\n" : ""))
}

function parseArgs(args: string): JsonObject {
  const value = parseJson(args)
  return isJsonObject(value) ? (value as JsonObject) : {}
}

/**
 * Returns the stored result of the call in the protocol's format. If the page has only part of the result, that part is
 * passed as text.
 */
function resultToContent(result: string): JsonObject {
  const value = parseJson(result)
  const { text = result, data } = isJsonObject(value) ? value : {}
  return {
    content: [{ type: "text", text: String(text) }],
    ...(isJsonObject(data) && { structuredContent: data as JsonObject }),
  }
}
