/**
 * question-offer.ts: offers an external agent's open question to programs, or sends it to the agent's webhook. SPEC
 * EA4, EA7.
 */

import { offerQuestion } from "../../agent/program-question.ts"
import type { Env } from "../../env.ts"
import type { LiveSession } from "../live-session.ts"

type SendQuestion = () => Promise<void>

/**
 * Creates a function that offers the open question, if there is one. Calling the function again has no effect. The
 * function doesn't wait for the webhook's answer.
 */
export function createQuestionOffer(env: Env, session: LiveSession): () => Promise<void> {
  let sending: Promise<SendQuestion> | null = null
  const loadSender = async (): Promise<SendQuestion> => {
    const { createQuestionSender } = await import("./webhook-question.ts")
    return createQuestionSender(env, session)
  }
  return async () => {
    if (!session.turns.host.currentAgent().isWebhook) return await offerQuestion(env, session)
    sending ??= loadSender()
    void (await sending)()
  }
}
