/**
 * welcome-screen.tsx: the heading of an empty conversation, and the example messages below the composer. A click on an
 * example sends it.
 */

import type { ComponentChildren, VNode } from "preact"
import { focusRequests } from "../ui/focus.ts"
import { Logo } from "../ui/logo.tsx"
import { welcomeText } from "../words/page-text.ts"

export function WelcomeScreen(): VNode {
  return (
    <section class="welcome">
      <Logo />
      <h2>{welcomeText.heading}</h2>
      <p>{welcomeText.hint}</p>
    </section>
  )
}

interface SuggestionsProps {
  readonly onSelect: (prompt: string) => void
  /** Additional list items. */
  readonly children?: ComponentChildren
}

export function Suggestions({ onSelect, children }: SuggestionsProps): VNode {
  return (
    <ul class="suggestions">
      {welcomeText.examples.map((prompt) => (
        <li key={prompt}>
          <button
            type="button"
            onClick={() => {
              onSelect(prompt)
              focusRequests.value++
            }}
          >
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d="M4 10h12M11 5l5 5-5 5" />
            </svg>
            {prompt}
          </button>
        </li>
      ))}
      {children}
    </ul>
  )
}
