/**
 * typed.ts: TypeScript code as another project would write it. It is checked against the packed types but never run.
 */

import { type Cuecard, type CuecardOptions, type ModelEvent, startCuecard } from "cuecard/testing"
import { parse, type Segment } from "cuecard"
import { type Client, type Conversation, createClient, CuecardError, type Message } from "cuecard/client"
import { useConversation } from "cuecard/preact"

export const segments: readonly Segment[] = parse("Hello.", [])

export async function answerTo(question: string): Promise<Message | undefined> {
  const client: Client = createClient({ url: "http://127.0.0.1:8787", getToken: async () => "token" })
  const conversation: Conversation = client.openSession("s")
  try {
    const id: string = await conversation.send(question)
    // @ts-expect-error: proves that the types are not `any`.
    conversation.getSnapshot().nothing
    return (await conversation.whenIdle()).messages.find((message) => message.id === id)
  } catch (error) {
    if (error instanceof CuecardError && error.code === "message_too_large") return undefined
    throw error
  }
}

export function countMessages(client: Client): number {
  return useConversation(client, "s").messages.length
}

const events: readonly ModelEvent[] = [{ type: "text_delta", delta: "Hello." }, { type: "finish" }]
const options: CuecardOptions = { script: [events], port: 0, vars: { WEATHER_SOURCE: "sample" } }

export async function tokenOfEve(): Promise<string> {
  const cuecard: Cuecard = await startCuecard(options)
  const token: string = await cuecard.tokenFor({ user: "eve", expiresIn: 60 })
  // @ts-expect-error: proves that the types are not `any`.
  cuecard.nothing()
  await cuecard.close()
  return token
}
