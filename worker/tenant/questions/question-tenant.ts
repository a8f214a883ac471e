/** question-tenant.ts: the tenant object's methods that pass questions to programs. Source: SPEC EA4. */

import type { OpenQuestion, QuestionRpc } from "../../settings/question-rpc.ts"
import { ThemeTenant } from "../theme/theme-tenant.ts"
import { OpenQuestions } from "./open-questions.ts"

export abstract class QuestionTenant extends ThemeTenant implements QuestionRpc {
  readonly #questions = new OpenQuestions(Date.now)

  offerQuestion(question: OpenQuestion): void {
    this.#questions.offer(question)
  }

  async takeQuestion(agent: string, waitMs: number): Promise<OpenQuestion | null> {
    return await this.#questions.take(agent, waitMs)
  }
}
