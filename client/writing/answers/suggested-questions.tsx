/**
 * suggested-questions.tsx: buttons below the latest answer with questions that the user could ask next. The questions
 * are requested when the tab is visible, and disappear with the next turn. SPEC FU3.
 */

import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { Api } from "../../net/api.ts"
import { writingText } from "../../words/writing-text.ts"
import { suggestFollowUps } from "../writing-api.ts"

interface FollowUpsProps {
  readonly api: Api
  readonly session: string
  readonly messageId: string
  readonly onSelect: (question: string) => void
}

export function FollowUps({ api, session, messageId, onSelect }: FollowUpsProps): VNode | null {
  const [questions, setQuestions] = useState<readonly string[]>([])
  useEffect(() => {
    let isShown = true
    const load = async (): Promise<void> => {
      if (document.visibilityState !== "visible") return
      document.removeEventListener("visibilitychange", load)
      const suggested = await suggestFollowUps(api, session, messageId).catch(() => [])
      if (isShown) setQuestions(suggested)
    }
    document.addEventListener("visibilitychange", load)
    void load()
    return () => {
      isShown = false
      document.removeEventListener("visibilitychange", load)
    }
  }, [session, messageId])
  if (questions.length === 0) return null
  return (
    <fieldset class="follow-ups" aria-label={writingText.followUps}>
      {questions.map((question) => (
        <button key={question} type="button" dir="auto" onClick={() => onSelect(question)}>
          {question}
        </button>
      ))}
    </fieldset>
  )
}
