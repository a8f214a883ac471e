/** client-types.ts: the public types of `cuecard/client`. */

import type { Asset } from "../shared/protocol/event.ts"
import type { SessionSummary } from "../shared/protocol/http-body.ts"
import type { WireMessage } from "../shared/protocol/server-frame.ts"
import type { CuecardError } from "./client-error.ts"

/**
 * A whole message. Its object is replaced when the message changes, and so are the segments that change. `content` is
 * the text of a user's message. The text of an answer is in its segments, so its `content` may be empty.
 */
export type Message = WireMessage
/** A file that was uploaded into a session. */
export type Attachment = Asset
export type Session = SessionSummary

/** The part of the Web Storage API that the client uses; `localStorage` implements it. */
export interface ClientStorage {
  readonly length: number
  key(index: number): string | null
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** The part of a WebSocket that the client uses. */
export interface ClientSocket {
  onopen: unknown
  onmessage: unknown
  onclose: unknown
  onerror: unknown
  send(text: string): void
  close(code?: number): void
}

export interface ClientOptions {
  /** The server's URL, for example `https://chat.example.com`. */
  readonly url: string
  /**
   * Returns a token for the user. Called before the first request, before a token expires, and when the server has
   * refused one. If it rejects, the next request or connection calls it again.
   */
  getToken(): Promise<string>
  /**
   * Stores messages and edits that the server hasn't received, so that `resume` of a later client can send them. Each
   * user has separate rows. By default, the rows are kept in memory.
   */
  readonly storage?: ClientStorage
  /** By default, the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** By default, the global `WebSocket`. */
  readonly WebSocket?: new (
    url: string,
    protocols: string[],
  ) => ClientSocket
  /** Runs the next update of a snapshot, for example in an animation frame. By default, after 16 milliseconds. */
  readonly scheduleUpdate?: (update: () => void) => void
}

export interface Client {
  readonly sessions: Sessions
  /**
   * Returns a handle for a session. `id` is the session's id, or `<owner>/<id>` if its owner shares the session with
   * the user. The handle connects on the first call of `subscribe`, `ready` or a command. All handles for one session
   * share a connection.
   */
  openSession(id: string): Conversation
  /**
   * Sends the messages and edits that earlier clients of this user left in the storage, for all sessions. Rejects if
   * there is no token.
   */
  resume(): Promise<void>
  /** Connects at once instead of after a delay. Call it when the device is online again or the app is visible again. */
  checkConnections(): void
  /** Sends a request with the user's token, for routes without a method here. `path` begins with a slash. */
  request(path: string, init?: RequestInit): Promise<Response>
  /** Closes all connections. Unsent messages and edits are kept in the storage. */
  close(): void
}

/** `subscribe` calls the listener after each change to the snapshot, and returns a function that unsubscribes it. */
export interface Subscribable<T> {
  /** Returns the same object until something changes. */
  readonly getSnapshot: () => T
  readonly subscribe: (listener: () => void) => () => void
}

export interface SessionsSnapshot {
  /** The loaded sessions, newest activity first. */
  readonly sessions: readonly Session[]
  /** Whether the list has been loaded at least once. */
  readonly isLoaded: boolean
  /** Whether there are more sessions after the loaded ones. After `failed`, `loadMore` tries again. */
  readonly more: "none" | "available" | "loading" | "failed"
}

/** The list of the user's sessions. While it has subscribers, it is refreshed at intervals and after each answer. */
export interface Sessions extends Subscribable<SessionsSnapshot> {
  refresh(): Promise<void>
  /** Loads the next page, if there is one. */
  loadMore(): Promise<void>
  /** Creates a session. A repeated call with the same id has no effect. `agent`: the agent that answers. */
  create(options?: {
    readonly title?: string
    readonly id?: string
    readonly agent?: string
  }): Promise<{ readonly id: string }>
  rename(id: string, title: string): Promise<void>
  /** Deletes a session and everything that is stored for it. Succeeds if it doesn't exist. */
  delete(id: string): Promise<void>
  /** Returns the transcript as a file, in JSON Lines, which can be imported, or in Markdown. */
  export(id: string, format?: "jsonl" | "markdown"): Promise<Blob>
}

/**
 * `waiting`: the next attempt to connect is scheduled. `outdated`: the server no longer speaks this version of the
 * protocol. `gone`: the session doesn't exist.
 */
export type ConnectionState = "connecting" | "live" | "waiting" | "outdated" | "gone"

/** A message that isn't in the transcript yet. */
export interface UnsentMessage {
  readonly id: string
  readonly content: string
  readonly replyTo: string | null
  readonly attachments: readonly Attachment[]
  /** When it was written, in milliseconds since 1970. */
  readonly at: number
  /** Why the server refused it; null while it is being sent. */
  readonly error: CuecardError | null
}

export interface ConversationSnapshot {
  /** The loaded messages, oldest first. */
  readonly messages: readonly Message[]
  readonly unsent: readonly UnsentMessage[]
  readonly connection: ConnectionState
  /** Whether the latest messages have been loaded at least once. */
  readonly isLoaded: boolean
  /** Whether an answer is running or queued. An answer that is waiting for the user doesn't count. */
  readonly isBusy: boolean
  /** The id of the answer that `cancel` stops, which is running or waiting for the user; null if there is none. */
  readonly activeAnswer: string | null
  readonly isReadOnly: boolean
  readonly hasOlder: boolean
  readonly isLoadingOlder: boolean
  /** The ids of the messages and tool calls that have a pending command. */
  readonly pending: ReadonlySet<string>
  /** Why the latest messages could not be loaded; null once they have been loaded. */
  readonly error: CuecardError | null
  /** The server's text while the client is waiting because of a rate limit; otherwise empty. */
  readonly waitingText: string
}

export interface SendOptions {
  /** The id of the new message. By default, a random id. The server accepts each id only once. */
  readonly id?: string
  readonly attachments?: readonly Attachment[]
  /** The id of the message to which the new message replies. */
  readonly replyTo?: string
}

export interface AttachOptions {
  /** By default, the name of the file. */
  readonly name?: string
  /** Receives the number of bytes sent so far. */
  readonly onProgress?: (bytes: number) => void
  readonly signal?: AbortSignal
}

/**
 * One session. A command is sent again after each reconnect until the server has answered it. The promise that a
 * command returns resolves when the server has accepted the command, and rejects with a CuecardError if the server has
 * refused it. The promise may be ignored.
 */
export interface Conversation extends Subscribable<ConversationSnapshot> {
  readonly id: string
  /**
   * Resolves when the latest messages have been loaded. Rejects if the server refuses the request; the next call tries
   * again.
   */
  ready(): Promise<void>
  /** Sends a message. Resolves with its id when it is in the transcript. */
  send(content: string, options?: SendOptions): Promise<string>
  /** Sends a refused message again. */
  resend(id: string): Promise<string>
  /** Removes a message that was refused or hasn't been accepted yet. */
  discard(id: string): void
  /** Stops the running answer, or one that is about to begin. Returns false if there is none. */
  cancel(): boolean
  /** Allows a tool call that is waiting for the user. */
  approve(callId: string): Promise<void>
  deny(callId: string): Promise<void>
  /** Creates another version of the user's message, and an answer to it. */
  edit(messageId: string, content: string): Promise<void>
  /** Creates another version of the last answer. */
  regenerate(messageId: string): Promise<void>
  /** Continues an answer that failed or was interrupted, as another version of it. */
  retry(messageId: string): Promise<void>
  /** Removes a message that is still queued. */
  withdraw(messageId: string): Promise<void>
  /** Shows another version of a message. `version` counts from 1. */
  selectVersion(messageId: string, version: number): Promise<void>
  /** Uploads a file. Pass the result to `send`. */
  attach(file: Blob, options?: AttachOptions): Promise<Attachment>
  /**
   * Returns a URL from which media of this session can be fetched for a limited time; null if the media no longer
   * exists. `url` is the URL of a media or canvas segment.
   */
  getMediaUrl(url: string): Promise<string | null>
  /** Loads the next older page of messages, if there is one. */
  loadOlder(): Promise<void>
  /**
   * Resolves when everything has been sent and no answer is running. An answer that is waiting for the user isn't
   * running.
   */
  whenIdle(): Promise<ConversationSnapshot>
  /** Connects at once instead of after a delay. */
  checkConnection(): void
  /**
   * Releases this handle. The connection closes when all handles have been released and the server has received every
   * message and command. The next call of `subscribe`, `ready` or a command opens the session again.
   */
  close(): void
}
