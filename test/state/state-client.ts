/**
 * state-client.ts: a small client of a running server, used to write a state directory and to read it.
 */

import { SignJWT } from "jose"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { ServerFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { type Cuecard, startCuecard } from "../../testing/index.ts"

/**
 * The secret that signs the tokens, links and seals of the packed states. It is fixed here, so that they stay valid
 * when wrangler.toml changes.
 */
const SECRET = "signs the packed state directories, in tests only"

/**
 * Fixed times of the tokens that are stored as revoked, in seconds since 1970. They expire late, because the server
 * forgets a revocation when its token expires.
 */
const TOKEN_ISSUED = 1_700_000_000
const TOKEN_EXPIRES = 4_102_444_800

/** The timeout of a wait, and the time between two checks, in milliseconds. */
const WAIT_MS = 30_000
const POLL_MS = 50

export function startOn(persist: string, vars: Readonly<Record<string, string>> = {}): Promise<Cuecard> {
  return startCuecard({ persist, vars: { JWT_SECRET: SECRET, ...vars } })
}

/**
 * Returns a token with fixed claims. It never changes, so it can be revoked when the state is written and must still be
 * refused years later.
 */
export function fixedToken(user: string, id: string): Promise<string> {
  return new SignJWT({ tenant: "demo" })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user)
    .setJti(id)
    .setIssuedAt(TOKEN_ISSUED)
    .setExpirationTime(TOKEN_EXPIRES)
    .sign(new TextEncoder().encode(SECRET))
}

/** A client that throws if the server responds with an error, except in `request`. */
export class StateClient {
  readonly #url: string
  readonly #token: string

  constructor({ url }: Pick<Cuecard, "url">, token: string) {
    this.#url = url
    this.#token = token
  }

  request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token}`, ...init.headers }
    return fetch(`${this.#url}${path}`, { ...init, headers })
  }

  async text(path: string, init: RequestInit = {}): Promise<string> {
    const response = await this.request(path, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${init.method ?? "GET"} ${path}: ${response.status} ${text}`)
    return text
  }

  async get<T>(path: string): Promise<T> {
    return JSON.parse(await this.text(path)) as T
  }

  async send<T>(method: "POST" | "PUT", path: string, body: object): Promise<T> {
    return JSON.parse(
      await this.text(path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    ) as T
  }

  async createSession(id: string, title = "", agent = "general"): Promise<void> {
    await this.send("POST", "/v1/sessions", { id, title, agent })
  }

  async messages(session: string): Promise<readonly WireMessage[]> {
    const page = await this.get<HistoryPage>(`/v1/sessions/${session}/conversation/recent?limit=120`)
    return page.messages
  }

  /** Waits until `holds` is true for the session's messages, and returns them. */
  async until(session: string, holds: (messages: readonly WireMessage[]) => boolean): Promise<readonly WireMessage[]> {
    const late = Date.now() + WAIT_MS
    for (;;) {
      const messages = await this.messages(session)
      if (holds(messages)) return messages
      if (Date.now() > late)
        throw new Error(`${session} did not reach the expected state: ${JSON.stringify(messages.at(-1))}`)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }

  /** Sends a message, and returns its answer once the answer has ended. */
  async ask(session: string, id: string, content: string, more: object = {}): Promise<WireMessage> {
    await this.send("POST", `/v1/sessions/${session}/messages`, { id, content, ...more })
    const messages = await this.until(session, (all) => isEnded(answerTo(all, id)))
    return answerTo(messages, id) as WireMessage
  }

  /** Sends a frame over a separate socket and waits for its acknowledgement. */
  async command(session: string, frame: ClientFrame): Promise<void> {
    const url = `${this.#url.replace(/^http/, "ws")}/v1/sessions/${session}/socket`
    const socket = new WebSocket(url, ["cuecard.v1", `token.${this.#token}`])
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const say = (clientFrame: ClientFrame): void => socket.send(JSON.stringify(clientFrame))
    socket.onopen = () => say({ type: "hello", protocol: PROTOCOL_VERSION, live: false })
    let isGreeted = false
    socket.onmessage = ({ data }) => {
      const answer = JSON.parse(String(data)) as ServerFrame
      if (answer.type === "hello" && !isGreeted) {
        isGreeted = true
        say(frame)
      }
      if (answer.type === "ack") resolve()
      if (answer.type === "error") reject(new Error(`${frame.type}: ${answer.code}`))
    }
    socket.onclose = ({ code }) => reject(new Error(`${frame.type}: the socket was closed with ${code}`))
    socket.onerror = () => reject(new Error(`${frame.type}: the socket failed`))
    await promise.finally(() => socket.close())
  }
}

export async function clientOf(cuecard: Cuecard, user: string): Promise<StateClient> {
  return new StateClient(cuecard, await cuecard.tokenFor({ user }))
}

export async function adminOf(cuecard: Cuecard): Promise<StateClient> {
  return new StateClient(cuecard, await cuecard.tokenFor({ user: "admin", scope: "admin" }))
}

/** Returns a client with an external producer's token for one session. */
export async function producerOf(cuecard: Cuecard, user: string, session: string): Promise<StateClient> {
  return new StateClient(cuecard, await cuecard.tokenFor({ user, session, scope: "external" }))
}

export function isEnded(message: WireMessage | undefined): boolean {
  return message !== undefined && /^(?:completed|cancelled|interrupted|failed)$/.test(message.status)
}

/** Returns the newest answer of an exchange. */
export function answerTo(messages: readonly WireMessage[], exchange: string): WireMessage | undefined {
  return messages.findLast(({ role, exchange_id }) => role === "assistant" && exchange_id === exchange)
}

export function callsIn(message: WireMessage | undefined): Extract<Segment, { type: "tool" }>[] {
  return (message?.segments ?? []).filter((segment) => segment.type === "tool")
}
