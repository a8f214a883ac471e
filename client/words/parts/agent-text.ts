/** agent-text.ts: the strings of messages between agents. Pure. */

import { translate } from "../languages/language.ts"

export const agentText = translate("agent", {
  asked: (agent: string) => `Asked ${agent}`,
  replyFrom: (agent: string) => `Reply from ${agent}`,
  replyTo: (agent: string) => `Reply to ${agent}`,
  messageFrom: (agent: string) => `Message from ${agent}`,
  viewThread: "View thread",
  viewThreadWith: (agent: string) => `View thread with ${agent}`,
  waitingFor: (agent: string) => `Waiting for ${agent}…`,
  showLess: "Show less",
})
