/**
 * conversations.ts: the contents of a packed state directory: conversations that use every stored feature.
 *
 * The sessions of the user `you` are idle or waiting when the server stops, and a new server must give the same
 * responses for them. The sessions of the user `away` are interrupted, and a new server must finish their work. All
 * text that a later version must reproduce comes from commands of the scripted model (`/say`, `/script`).
 */

import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { Cuecard } from "../../testing/index.ts"
import { adminOf, answerTo, callsIn, clientOf, fixedToken, isEnded, producerOf, StateClient } from "./state-client.ts"

/** Ids that the test also uses. */
export const WAITING = { session: "waiting", exchange: "waiting-2", title: "Allowed later" } as const
export const HALF_SENT = { session: "half-told", answer: "half-told-1", queued: "half-told-2", content: "/say Now." }
export const STAGED = { session: "staged", question: "staged-1", answer: "staged-2" }
export const CUT = { session: "cut", exchange: "cut-1", text: "This much was shown." }
export const ASYNC = { session: "async", exchange: "async-1", reply: "The poet is late." }

/** The smallest PNG: one pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

/**
 * How long the poet waits, in milliseconds. This is longer than the writer needs to stop the server, and the test must
 * wait this long for the poet.
 */
const PAUSE_MS = 5_000

const say = (delta: string): object => ({ type: "text_delta", delta })
const pause = (ms: number): object => ({ type: "pause", ms })
const call = (name: string, args: object): object => ({ type: "tool_call", name, args: JSON.stringify(args) })
/** Returns a message that makes the scripted model play these steps, one list of events per model call. */
const script = (...steps: readonly object[][]): string => `/script ${JSON.stringify(steps)}`

const toLines = (records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("")

const AGENTS = {
  general: {
    description: "Answers anything.",
    prompt: "You are the general agent of a stored tenant.",
    tools: ["weather", "rename_conversation", "agents_message", "image_generate", "speak", "canvas_create"],
  },
  researcher: { description: "Looks things up.", prompt: "You are the researcher. Look it up.", tools: ["weather"] },
  poet: { description: "Writes verse.", prompt: "You are the poet.", model: "scripted", tools: [] },
}

export async function writeTenant(cuecard: Cuecard): Promise<void> {
  const admin = await adminOf(cuecard)
  for (const [name, agent] of Object.entries(AGENTS)) await admin.send("PUT", `/v1/agents/${name}`, agent)
  await admin.text("/v1/agents/weather", { method: "DELETE" })
  const settings = { embed_origins: ["https://docs.example.com"], media_hosts: ["media.example.com"] }
  await admin.send("PUT", "/v1/settings", settings)
}

/** Revokes one token of `you`, and every token of `gone` that has been issued so far. */
export async function writeRevocations(cuecard: Cuecard): Promise<void> {
  await new StateClient(cuecard, await fixedToken("you", "revoked-1")).send("POST", "/v1/tokens/revoke", {})
  const revoked = new StateClient(cuecard, await fixedToken("gone", "revoked-2"))
  await revoked.createSession("gone")
  await revoked.send("POST", "/v1/tokens/revoke", { all: true })
}

export async function writeConversations(cuecard: Cuecard): Promise<void> {
  const you = await clientOf(cuecard, "you")
  await writeWeather(you)
  await writeEnds(you)
  await writeApprovals(you)
  await writeVersions(you)
  await writeAgents(you)
  await writeFiles(you)
  await writeImports(you)
  await writeExternal(you, await createExternalAnswer(cuecard, "external"))
  await you.createSession("erased")
  await you.ask("erased", "erased-1", "/say Nothing of this stays.")
  await you.text("/v1/sessions/erased", { method: "DELETE" })
}

/** Writes two cards, thinking, and a question that replies to the first answer. */
async function writeWeather(you: StateClient): Promise<void> {
  await you.createSession("weather")
  const answer = await you.ask("weather", "weather-1", "What's the weather in London and in Tokyo?")
  await you.ask("weather", "weather-2", '/think "One thought.\\nThen another."', { reply_to: answer.id })
}

/** Writes a failed answer, a cancelled one, a retried one, and failed tool calls. */
async function writeEnds(you: StateClient): Promise<void> {
  await you.createSession("ends", "Ends")
  await you.ask("ends", "ends-1", "/fault model_timeout")
  const cut = script([say("Half of it. "), pause(10_000), say("The other half.")])
  await you.send("POST", "/v1/sessions/ends/messages", { id: "ends-2", content: cut })
  await you.until("ends", (all) => (answerTo(all, "ends-2")?.segments.length ?? 0) > 0)
  await you.send("POST", "/v1/sessions/ends/cancel", { exchange_id: "ends-2" })
  const fault = { type: "fault", fault: "model_cut_off" }
  const twice = script([say("Looking."), call("weather", { location: "Oslo" })], [say("It is "), fault])
  const failed = await you.ask("ends", "ends-3", twice)
  await you.command("ends", { type: "retry", id: "ends-4", message: failed.id })
  await you.until("ends", (all) => all.some(({ id, status }) => id === "ends-4" && status === "failed"))
  await you.ask("ends", "ends-5", script([call("nothing", {}), call("weather", { location: "" })], [say("Done.")]))
}

/** Asks for a new title, and waits until the server asks for approval. Returns the id of the call. */
async function askForTitle(you: StateClient, session: string, id: string, title: string): Promise<string> {
  await you.send("POST", `/v1/sessions/${session}/messages`, { id, content: `Rename this conversation to ${title}` })
  const messages = await you.until(session, (all) => answerTo(all, id)?.status === "waiting")
  return callsIn(answerTo(messages, id))[0]?.call_id ?? ""
}

/** Writes a denied call, an allowed one, and one that is still waiting. */
async function writeApprovals(you: StateClient): Promise<void> {
  await you.createSession("approvals")
  const denied = await askForTitle(you, "approvals", "approvals-1", "Never")
  await you.command("approvals", { type: "approve", call_id: denied, decision: "deny" })
  await you.until("approvals", (all) => isEnded(answerTo(all, "approvals-1")))
  const allowed = await askForTitle(you, "approvals", "approvals-2", "Rain or shine")
  await you.command("approvals", { type: "approve", call_id: allowed, decision: "allow" })
  await you.until("approvals", (all) => isEnded(answerTo(all, "approvals-2")))
  await you.createSession(WAITING.session)
  await you.ask(WAITING.session, "waiting-1", "/say Before it.")
  await askForTitle(you, WAITING.session, WAITING.exchange, WAITING.title)
}

/**
 * Writes a regenerated answer and an edited question with its own answer, and switches back to the first version of the
 * question.
 */
async function writeVersions(you: StateClient): Promise<void> {
  await you.createSession("versions", "Versions")
  const answer = await you.ask("versions", "versions-1", "/say One.")
  await you.command("versions", { type: "regenerate", id: "versions-2", message: answer.id })
  await you.until("versions", (all) => all.some(({ id, status }) => id === "versions-2" && status === "completed"))
  await you.ask("versions", "versions-3", "/say Two.")
  const edited = {
    type: "edit",
    id: "versions-4",
    message: "versions-3",
    content: "/say Two, in other words.",
  } as const
  await you.command("versions", edited)
  await you.until("versions", (all) => all.some(({ id }) => id === edited.id) && isEnded(all.at(-1)))
  await you.ask("versions", "versions-5", "/say Three.")
  await you.command("versions", { type: "switch", id: "versions-6", message: edited.id, version: 1 })
}

/** Writes a question to an agent whose answer the turn waits for, and one to an agent that answers later. */
async function writeAgents(you: StateClient): Promise<void> {
  await you.createSession("agents", "Agents")
  await you.ask("agents", "agents-1", "Ask the researcher about the weather in Oslo and Lima")
  await you.ask("agents", "agents-2", "Ask the researcher in the background about the weather in Rome")
  await you.until("agents", (all) => all.some(({ role }) => role === "agent") && isEnded(all.at(-1)))
}

/** Uploads a file into a session. Returns the asset's id. */
async function uploadFile(you: StateClient, session: string, name: string, body: BodyInit): Promise<string> {
  const asset = await you.text(`/v1/sessions/${session}/assets?name=${name}`, { method: "POST", body })
  return (JSON.parse(asset) as { readonly id: string }).id
}

/** Writes attachments, an embed and media from other hosts, a chart, speech, and a canvas. */
async function writeFiles(you: StateClient): Promise<void> {
  await you.createSession("files", "Files")
  const notes = await uploadFile(you, "files", "notes.txt", "Some notes.\nTwo lines.\n")
  const attachments = [await uploadFile(you, "files", "pixel.png", PNG), notes]
  await you.ask("files", "files-1", "/say Two files.", { attachments })
  const directives = [
    "[[reply_to:files-1]]Your picture again:",
    `MEDIA:/media/${attachments[0]}`,
    "MEDIA:https://media.example.com/cat.jpg",
    "[embed url='https://docs.example.com/board' title='Board' height='240' /]",
  ]
  await you.ask("files", "files-2", `/say ${JSON.stringify(directives.join("\n"))}`)
  await you.ask("files", "files-3", "Draw a chart of apples 3, pears 5")
  await you.ask("files", "files-4", "Say hello")
  await you.ask("files", "files-5", "Make a counter canvas")
}

/** The records of a tool call whose output was longer than the part of it that was stored. */
const LONG_OUTPUT = [
  { type: "user_message", responseId: "unsealed-1", text: "And the log?" },
  { type: "tool_call_start", responseId: "unsealed-2", callId: "log-1", toolName: "Bash", arguments: "{}" },
  { type: "tool_output_delta", responseId: "unsealed-2", callId: "log-1", delta: "line 1\nline 2\n" },
  {
    type: "tool_result",
    responseId: "unsealed-2",
    callId: "log-1",
    toolName: "Bash",
    ok: true,
    outputSize: { lines: 9_000, bytes: 90_000 },
  },
  { type: "assistant_message", responseId: "unsealed-2", text: "It is long." },
].map((record) => JSON.stringify(record))

/** Imports a sealed export, and a file without a seal that also contains unusable lines. */
async function writeImports(you: StateClient): Promise<void> {
  const importInto = async (id: string, body: string): Promise<void> => {
    await you.createSession(id)
    await you.text(`/v1/sessions/${id}/import`, { method: "POST", body })
  }
  await importInto("sealed", await you.text("/v1/sessions/files/events"))
  const records = (await you.text("/v1/sessions/weather/events")).trimEnd().split("\n")
  await importInto("unsealed", [...records.slice(0, -1), ...LONG_OUTPUT, "no JSON", '{"type":"unknown"}'].join("\n"))
}

/** Creates a session of `you`, and returns a client for its external producer. */
async function createExternalAnswer(cuecard: Cuecard, session: string): Promise<StateClient> {
  await (await clientOf(cuecard, "you")).createSession(session)
  return await producerOf(cuecard, "you", session)
}

/** Writes an external producer's answer that came record by record, and one that came as a whole. */
async function writeExternal(you: StateClient, producer: StateClient): Promise<void> {
  await you.ask("external", "external-1", "/say Before the producer.")
  const records = [
    { type: "thinking_delta", delta: "I will run it." },
    { type: "text_delta", delta: "Running **ls**." },
    { type: "tool_call_start", callId: "ls-1", toolName: "Bash", arguments: '{"command":"ls"}' },
    { type: "tool_output_delta", callId: "ls-1", delta: "README.md\nSPEC.md\n" },
    { type: "tool_result", callId: "ls-1", ok: true, result: "2 files" },
    { type: "tool_call_start", callId: "rm-1", toolName: "Bash", arguments: '{"command":"rm"}' },
    { type: "tool_result", callId: "rm-1", ok: false, error: { code: "refused", message: "Not here." } },
    { type: "text_delta", delta: "Two files." },
    { type: "assistant_message", text: "" },
  ].map((record, at) => ({ ...record, n: at + 1 }))
  const path = "/external/sessions/external/events?responseId=external-2"
  await producer.text(path, { method: "POST", body: toLines(records) })
  await producer.send("POST", "/external/sessions/external/messages", {
    text: "All at once.",
    responseId: "external-3",
  })
}

/**
 * Writes a conversation that is so long that the older turns are summarised. The server must run with a small context.
 */
export async function writeSummary(cuecard: Cuecard): Promise<void> {
  const you = await clientOf(cuecard, "you")
  await you.createSession("summary", "Summary", "poet")
  let answer: WireMessage | undefined
  for (let turn = 1; answer?.summary === undefined && turn <= 12; turn++) {
    answer = await you.ask("summary", `summary-${turn}`, `/say Verse ${turn}: ${"la ".repeat(60)}`)
  }
  if (answer?.summary === undefined) throw new Error("no turn was summarised; make the context smaller")
}

/**
 * Starts work that is still in progress when the server is killed. This is called last, so that none of the work ends
 * before the kill.
 */
export async function writeUnfinished(cuecard: Cuecard): Promise<void> {
  await writeUnfinishedAnswers(cuecard)
  const away = await clientOf(cuecard, "away")
  await away.createSession(STAGED.session)
  const lost = { id: "lost", kind: "file", mime_type: "text/plain", label: "lost.txt", size: 4 }
  const half = toLines([
    { type: "asset", sessionId: "elsewhere", asset: lost },
    { type: "user_message", responseId: STAGED.question, text: "Staged?" },
  ])
  await away.text(`/v1/sessions/${STAGED.session}/import?part=1&of=2`, { method: "POST", body: half })
  await away.createSession(ASYNC.session)
  const message = script([pause(PAUSE_MS), say(ASYNC.reply)])
  const content = script([call("agents_message", { agent: "poet", message, mode: "async" })], [say("It was asked.")])
  await away.ask(ASYNC.session, ASYNC.exchange, content)
  await away.createSession(CUT.session)
  const cut = script([say(CUT.text), pause(10_000), say(" And this was not.")])
  await away.send("POST", `/v1/sessions/${CUT.session}/messages`, { id: CUT.exchange, content: cut })
  await away.until(CUT.session, (all) => (answerTo(all, CUT.exchange)?.segments.length ?? 0) > 0)
}

/** Writes half of an external producer's answer, followed by a queued message and a withdrawn one. */
async function writeUnfinishedAnswers(cuecard: Cuecard): Promise<void> {
  const { session, answer, queued } = HALF_SENT
  const producer = await createExternalAnswer(cuecard, session)
  const you = await clientOf(cuecard, "you")
  const records = [
    { type: "text_delta", delta: "The first half, ", n: 1 },
    { type: "tool_call_start", callId: "slow-1", toolName: "Bash", arguments: '{"command":"make"}', n: 2 },
    { type: "tool_output_delta", callId: "slow-1", delta: "compiling\n", n: 3 },
  ]
  const path = `/external/sessions/${session}/events?responseId=${answer}`
  await producer.text(path, { method: "POST", body: toLines(records) })
  const attachments = [await uploadFile(you, session, "queued.txt", "Waits with its message.\n")]
  await you.send("POST", `/v1/sessions/${session}/messages`, { id: queued, content: HALF_SENT.content, attachments })
  const withdrawn = { id: "half-told-3", content: "/say Taken back." }
  await you.send("POST", `/v1/sessions/${session}/messages`, withdrawn)
  await you.command(session, { type: "withdraw", id: "half-told-4", message: withdrawn.id })
}
