/**
 * ask.js: asks one question and prints the answer as it is written. Needs Node ≥ 22.
 *
 * Usage: node ask.js "What's the weather in Oslo?" CUECARD_URL is the server, http://127.0.0.1:8787 by default.
 * CUECARD_TOKEN is the user's token. Without it, the script requests a token, which only a developer's server issues.
 */

import process from "node:process"
import { createClient } from "cuecard/client"

const url = process.env.CUECARD_URL ?? "http://127.0.0.1:8787"

async function getToken() {
  if (process.env.CUECARD_TOKEN !== undefined) return process.env.CUECARD_TOKEN
  const headers = { "content-type": "application/json" }
  const response = await fetch(`${url}/v1/dev/token`, { method: "POST", headers, body: "{}" })
  return (await response.json()).token
}

/** Returns the text of an answer, with cards and tool calls as short notes. */
function toText({ segments }) {
  return segments.map((segment) => {
    if (segment.type === "text") return segment.content
    if (segment.type === "rich") return `[card: ${segment.synthesis}]`
    return ""
  })
}

const client = createClient({ url, getToken })
const { id } = await client.sessions.create({ title: "From a script" })
const conversation = client.openSession(id)

let printed = ""
conversation.subscribe(() => {
  const answer = conversation.getSnapshot().messages.at(-1)
  if (answer?.role !== "assistant") return
  const text = toText(answer).filter(Boolean).join(" ")
  if (text.startsWith(printed)) process.stdout.write(text.slice(printed.length))
  else process.stdout.write(`\n${text}`)
  printed = text
})

try {
  await conversation.send(process.argv[2] ?? "What's the weather in Oslo?")
  await conversation.whenIdle()
  process.stdout.write("\n")
} catch (error) {
  console.error(`${error.code}: ${error.message}`)
  process.exitCode = 1
} finally {
  client.close()
}
