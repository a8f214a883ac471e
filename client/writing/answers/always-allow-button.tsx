/** always-allow-button.tsx: allows all calls of a tool in this conversation, now and later. Source: SPEC AP8. */

import type { VNode } from "preact"
import { useState } from "preact/hooks"
import type { Api } from "../../net/api.ts"
import { describeError } from "../../net/http-request.ts"
import { writingText } from "../../words/writing-text.ts"
import { allowTool } from "../writing-api.ts"

interface AlwaysAllowButtonProps {
  readonly api: Api
  readonly session: string
  readonly tool: string
  readonly isDisabled: boolean
}

export function AlwaysAllowButton({ api, session, tool, isDisabled }: AlwaysAllowButtonProps): VNode {
  const [error, setError] = useState("")
  const [isSent, setSent] = useState(false)
  const allow = (): void => {
    if (isSent || isDisabled) return
    setSent(true)
    allowTool(api, session, tool).catch((refusal: unknown) => {
      setSent(false)
      setError(describeError(refusal))
    })
  }
  return (
    <>
      <button type="button" aria-disabled={isSent || isDisabled} onClick={allow}>
        {writingText.alwaysAllow}
      </button>
      {error !== "" && (
        <p class="fault" role="alert">
          {error}
        </p>
      )}
    </>
  )
}
