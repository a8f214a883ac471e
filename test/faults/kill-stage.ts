/**
 * kill-stage.ts: a conversation on a real server that is killed while it is answering, and restarted on the same
 * storage.
 */

import { randomInt } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { answerTo, clientOf, isEnded, StateClient } from "../state/state-client.ts"
import { type Cuecard, startCuecard } from "../support/checked-cuecard.ts"

/** Maximum delay between a message and the kill, in milliseconds: about the duration of a turn. */
const MAX_DELAY_MS = 60

const VARS = { PROBE_TOOLS: "on" }

export interface KillStage {
  /** The server that is currently running. */
  cuecard: Cuecard
  readonly ada: StateClient
  readonly session: string
  /** Removes the storage and closes the server. */
  readonly close: () => Promise<void>
  readonly persist: string
}

/**
 * Starts a server and creates its session. `prepare` must create the agent `helper`, to which the session's messages
 * go.
 */
export async function openStage(prepare: (root: StateClient, cuecard: Cuecard) => Promise<void>): Promise<KillStage> {
  const persist = await mkdtemp(join(tmpdir(), "cuecard-kills-"))
  const cuecard = await startCuecard({ persist, vars: VARS })
  const close = async (): Promise<void> => {
    await stage.cuecard.close()
    await rm(persist, { recursive: true, force: true })
  }
  await prepare(new StateClient(cuecard, await cuecard.tokenFor({ user: "root", role: "admin" })), cuecard)
  const ada = await clientOf(cuecard, "ada")
  const { id: session } = await ada.send<{ id: string }>("POST", "/v1/sessions", { agent: "helper" })
  const stage: KillStage = { cuecard, ada, session, persist, close }
  return stage
}

export const waitAtRandom = (): Promise<unknown> =>
  new Promise((resolve) => setTimeout(resolve, randomInt(MAX_DELAY_MS)))

/** Sends a message, kills the server at some moment, restarts it, and returns the ended answer. */
export async function sendAndKill(
  stage: KillStage,
  message: { readonly id: string; readonly content: string },
  moment: Promise<unknown> = waitAtRandom(),
) {
  const { ada, session, persist } = stage
  const send = () => ada.send("POST", `/v1/sessions/${session}/messages`, message)
  const sent = send().catch(() => null)
  await moment
  await stage.cuecard.kill()
  await sent
  stage.cuecard = await startCuecard({ persist, vars: VARS, port: Number(new URL(stage.cuecard.url).port) })
  // Sending a message with the same id again has no effect.
  await send()
  return await untilEnded(stage, message.id)
}

export async function untilEnded({ ada, session }: KillStage, id: string) {
  const readAnswer = async () => {
    const page = await ada.get<HistoryPage>(`/v1/sessions/${session}/conversation/recent?limit=4`)
    return answerTo(page.messages, id)
  }
  await expect.poll(async () => isEnded(await readAnswer()), { timeout: 60_000 }).toBe(true)
  return await readAnswer()
}
