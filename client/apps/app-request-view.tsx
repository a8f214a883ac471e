/**
 * app-request-view.tsx: asks the user whether an MCP App may open a link, send a message, or call a tool.
 *
 * The question is part of the page, outside the app's frame. The buttons ignore clicks at first, because an app could
 * time its request so that a click meant for something else hits a button. SPEC MA6.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { INVISIBLE_CHARS } from "../../shared/protocol/asset.ts"
import { toolText } from "../words/parts/call-text.ts"
import { mcpAppText } from "../words/parts/mcp-app-text.ts"
import type { AppRequest, JsonObject } from "./app-bridge.ts"

/** How long the buttons ignore clicks at first, in milliseconds. */
const GUARD_MS = 500

interface AppRequestViewProps {
  readonly request: AppRequest
  readonly onAnswer: (isAllowed: boolean) => void
}

export function AppRequestView({ request, onAnswer }: AppRequestViewProps): VNode {
  const shownAt = useRef(Number.POSITIVE_INFINITY)
  useLayoutEffect(() => {
    shownAt.current = performance.now()
  }, [request])
  const allow = (event: Event): void => {
    if (event.timeStamp - shownAt.current >= GUARD_MS) onAnswer(true)
    else event.preventDefault()
  }
  const { question, target } = describeRequest(request)
  return (
    <fieldset class="ask" aria-label={question}>
      <p role="alert">{question}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long text must be scrollable with the keyboard. */}
      <pre dir="auto" tabIndex={0}>
        {target}
      </pre>
      {request.kind === "link" ? (
        <a class="firm" href={request.url} target="_blank" rel="noopener noreferrer" onClick={allow}>
          {mcpAppText.openLink}
        </a>
      ) : (
        <button type="button" class="firm" onClick={allow}>
          {request.kind === "message" ? mcpAppText.send : toolText.allow}
        </button>
      )}
      <button type="button" onClick={() => onAnswer(false)}>
        {toolText.deny}
      </button>
    </fieldset>
  )
}

/** Returns the question to the user. `target` is what the user is asked to approve. */
function describeRequest(request: AppRequest): { readonly question: string; readonly target: string } {
  switch (request.kind) {
    case "link":
      return { question: mcpAppText.linkAsked, target: request.url }
    case "message":
      return { question: mcpAppText.messageAsked, target: request.text }
    case "call":
      return { question: mcpAppText.callAsked(request.tool), target: formatArgs(request.args) }
  }
}

/** Shows invisible characters as their code points, because some invisible characters reverse the text around them. */
function formatArgs(args: JsonObject): string {
  return JSON.stringify(args, null, 2).replace(INVISIBLE_CHARS, (character) =>
    character === "\n" ? "\n" : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}
