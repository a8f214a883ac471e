/**
 * allowed-tools-dialog.tsx: lists the tools that a conversation always allows, and revokes these permissions. Source:
 * SPEC AP9.
 */

import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { AllowedTool } from "../../shared/protocol/writing/answer-usage.ts"
import type { Api } from "../net/api.ts"
import { describeError } from "../net/http-request.ts"
import { Dialog } from "../ui/dialog.tsx"
import { writingText } from "../words/writing-text.ts"
import { listAllowedTools, revokeTool } from "./writing-api.ts"

interface AllowedToolsDialogProps {
  readonly api: Api
  readonly session: string
  readonly onClose: () => void
}

export function AllowedToolsDialog({ api, session, onClose }: AllowedToolsDialogProps): VNode {
  const [tools, setTools] = useState<readonly AllowedTool[] | null>(null)
  const [error, setError] = useState("")
  const show = (loading: Promise<readonly AllowedTool[]>): void =>
    void loading.then(setTools, (reason: unknown) => setError(describeError(reason)))
  useEffect(() => show(listAllowedTools(api, session)), [])
  return (
    <Dialog title={writingText.allowedToolsTitle} onCancel={onClose}>
      {tools === null && error === "" && <p>{writingText.loading}</p>}
      {tools?.length === 0 && <p>{writingText.noAllowedTools}</p>}
      <ul class="prompts">
        {tools?.map(({ tool }) => (
          <li key={tool}>
            <code>{tool}</code>
            <button type="button" onClick={() => show(revokeTool(api, session, tool))}>
              {writingText.askAgain(tool)}
            </button>
          </li>
        ))}
      </ul>
      {error !== "" && (
        <p class="fault" role="alert">
          {error}
        </p>
      )}
      <div class="ways">
        <button type="button" class="firm" data-first="" onClick={onClose}>
          {writingText.done}
        </button>
      </div>
    </Dialog>
  )
}
