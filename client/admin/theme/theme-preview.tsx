/**
 * theme-preview.tsx: a small conversation in a theme that is not saved yet, drawn by the page's components. The preview
 * is not interactive. Source: SPEC TH8.
 */

import { signal } from "@preact/signals"
import { render, type VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { Scheme, Theme } from "../../../shared/theme/page-theme.ts"
import { themeToProperties } from "../../../shared/theme/theme-properties.ts"
import { createReaderRequests } from "../../shared-view/reader-requests.ts"
import { ScrollAnchor } from "../../transcript/scroll-anchor.ts"
import { Transcript } from "../../transcript/transcript.tsx"
import { Logo } from "../../ui/logo.tsx"
import { appText } from "../../words/page-text.ts"
import { themeText } from "../../words/theme/theme-text.ts"
import { createPreviewSheets } from "./preview-styles.ts"
import { createSampleStore } from "./sample-conversation.ts"

const ONLINE = signal(true)
const NO_ENTRIES = signal([])
const ignore = (): void => {}

interface ThemePreviewProps {
  readonly theme: Theme
  readonly scheme: Scheme
}

export function ThemePreview({ theme, scheme }: ThemePreviewProps): VNode {
  const hostRef = useRef<HTMLDivElement>(null)
  const boxRef = useRef<HTMLElement | null>(null)
  useEffect(() => {
    const box = openBox(hostRef.current, scheme)
    boxRef.current = box
    return () => box !== null && render(null, box)
  }, [scheme])
  useEffect(() => {
    if (boxRef.current !== null) showPreview(boxRef.current, theme)
  }, [theme, scheme])
  return (
    <figure class="theme-preview">
      <figcaption>{themeText.scheme[scheme]}</figcaption>
      <div ref={hostRef} role="img" aria-label={themeText.previewOf[scheme]} />
    </figure>
  )
}

/**
 * Returns the element that represents the page in this scheme. A shadow root can't be removed, so an existing one is
 * reused.
 */
function openBox(host: HTMLElement | null, scheme: Scheme): HTMLElement | null {
  if (host === null) return null
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" })
  root.adoptedStyleSheets = createPreviewSheets()
  const box = document.createElement("div")
  box.className = "cuecard"
  box.inert = true
  box.dataset["theme"] = scheme
  box.dir = document.documentElement.dir
  root.replaceChildren(box)
  return box
}

function showPreview(box: HTMLElement, theme: Theme): void {
  box.style.cssText = ""
  for (const [name, value] of Object.entries(themeToProperties(theme))) box.style.setProperty(name, value)
  render(<PreviewPage theme={theme} />, box)
}

const store = createSampleStore()
const requests = createReaderRequests(store, async () => ({ signed: [], expires: 0 }))
const scrollAnchor = new ScrollAnchor(ignore)
scrollAnchor.stopFollowing()

function PreviewPage({ theme }: Pick<ThemePreviewProps, "theme">): VNode {
  const { name, welcome, suggestions } = theme
  return (
    <div class="page widget">
      <header class="widget-bar">
        <Logo />
        <p class="title">
          <bdi>{name || appText.name}</bdi>
        </p>
      </header>
      <main class="view">
        <div class="column">
          {(welcome !== "" || suggestions.length > 0) && (
            <section class="welcome">
              {welcome !== "" && <h2 dir="auto">{welcome}</h2>}
              <ul class="suggestions">
                {suggestions.map((text) => (
                  <li key={text}>
                    <button type="button">{text}</button>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <Transcript
            store={store}
            unsent={NO_ENTRIES}
            scrollAnchor={scrollAnchor}
            isOnline={ONLINE}
            requests={requests}
            onRetry={ignore}
            onDiscard={ignore}
          />
        </div>
      </main>
      <footer class="foot">
        <div class="composer">
          <textarea rows={1} placeholder={themeText.sample.field} aria-label={themeText.sample.field} />
          <button type="button" class="send" data-ready="">
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d="M10 15.5v-11M5.5 9L10 4.5 14.5 9" />
            </svg>
          </button>
        </div>
      </footer>
    </div>
  )
}
