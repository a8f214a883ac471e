/** bare-texts.ts: finds text on the page that isn't in the pseudo-language's brackets. */

import type { Page } from "playwright-core"

/** Elements whose text is a name or a number, or comes from the user or the server. */
const DATA =
  "article .prose, article .body, article code, article pre, [data-segment=media], [data-segment=canvas], .card, .sidebar nav a, .sidebar .brand, option, .account-button, dd, .title, h1, .calls .hint, .calls b, .calls summary > span:first-child, time, .agent b, .menu [dir=auto], [role=status].visually-hidden, [aria-live], article[data-role=user] p:not(.note), kbd, .completions [role=option], .topbar .agent, .ask .words, .ask .view-field, .canvas-panel header b, .canvas-panel iframe, .canvas-panel .source figure, .prompts .prompt, .chip b, .chip .sign, .chip small, .snippet, .lightbox img, .connections .setting p:first-child"

/** Returns the visible text and labels that lack the brackets of the pseudo-language. */
export function findBareTexts(page: Page): Promise<string[]> {
  return page.evaluate((data) => {
    const bare: string[] = []
    // Bracketed text may contain other bracketed text.
    const isBare = (text: string): boolean => /\p{L}{2}/u.test(text.replace(/⟦[^⟦⟧]*⟧/gu, "").replace(/⟦[^⟧]*⟧/gu, ""))
    const widgets = [...document.querySelectorAll("cuecard-chat")].flatMap(({ shadowRoot }) => shadowRoot ?? [])
    const roots = widgets.length > 0 ? widgets : [document.body]
    for (const element of roots.flatMap((root) => [...root.querySelectorAll("*")])) {
      if (element.closest(`script, style, noscript, svg, ${data}`) !== null) continue
      for (const name of ["aria-label", "title", "placeholder", "alt"]) {
        const value = element.getAttribute(name) ?? ""
        // A label may contain data around the translated text, but it must contain some translated text.
        if (isBare(value) && !value.includes("⟦")) bare.push(`${element.tagName}[${name}] ${value}`)
      }
      const own = [...element.childNodes]
        .filter((node) => node.nodeType === Node.TEXT_NODE)
        .map((node) => node.textContent)
      if (isBare(own.join(""))) bare.push(`${element.tagName}.${element.className} ${own.join("")}`)
    }
    return bare
  }, DATA)
}
