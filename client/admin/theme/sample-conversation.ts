/** sample-conversation.ts: the conversation in the preview of a theme. */

import type { WireMessage } from "../../../shared/protocol/server-frame.ts"
import { TranscriptStore } from "../../session/transcript-store.ts"
import { themeText } from "../../words/theme/theme-text.ts"

const SALES = [4, 7, 9]

export function createSampleStore(): TranscriptStore {
  const store = new TranscriptStore({ scheduleRender: (callback) => callback(), onMessageEnd() {} })
  store.loadPage({ messages: createMessages(), has_more: false, epoch: "", seq: 0 })
  return store
}

function createMessages(): WireMessage[] {
  const { question, answer, chart, shops, closing } = themeText.sample
  const data = shops.map((label, at) => ({ label, value: SALES[at] ?? 0 }))
  const shared = {
    exchange_id: "sample",
    content: "",
    status: "completed",
    reason: null,
    mode: "chat",
    metrics: null,
    timestamp: new Date().toISOString(),
  } as const
  return [
    { ...shared, id: "question", role: "user", segments: [{ type: "text", content: question }] },
    {
      ...shared,
      id: "answer",
      role: "assistant",
      segments: [
        { type: "text", content: answer },
        {
          type: "rich",
          tag: "chart_1",
          payload: { title: chart, kind: "bar", unit: "", data },
          synthesis: "",
        },
        { type: "text", content: closing },
      ],
    },
  ]
}
