/** welcome-screen.tsx: the content of an empty conversation: a heading and examples that are sent when clicked. */

import type { VNode } from "preact"
import { focusRequests } from "../ui/focus.ts"
import { Logo } from "../ui/logo.tsx"
import { welcomeText } from "../words/page-text.ts"

export function WelcomeScreen({ onSelect }: { readonly onSelect: (prompt: string) => void }): VNode {
  return (
    <section class="welcome">
      <Logo />
      <h2>{welcomeText.heading}</h2>
      <p>{welcomeText.hint}</p>
      <ul>
        {welcomeText.examples.map((prompt) => (
          <li key={prompt}>
            <button
              type="button"
              onClick={() => {
                onSelect(prompt)
                focusRequests.value++
              }}
            >
              {prompt}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
