/** message-state.tsx: the note that says why a change to a message was refused. */

import { useComputed } from "@preact/signals"
import type { VNode } from "preact"
import { useTranscriptRequests } from "./transcript-requests.ts"

/** Shows the server's text if it refused a command for this message or tool call. */
export function RefusalNote({ of: targetId }: { readonly of: string }): VNode | null {
  const requests = useTranscriptRequests()
  const text = useComputed(() => requests?.commands.refusals.value.get(targetId)).value
  return text === undefined ? null : <FaultNote text={text} />
}

export function FaultNote({ text }: { readonly text: string }): VNode {
  return (
    <p class="note fault" role="alert">
      {text}
    </p>
  )
}
