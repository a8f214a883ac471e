/**
 * widget-shell.ts: the elements around the conversation: a box that fills the element, or a button and a panel.
 *
 * The button and the panel are in the top layer, so no z-index, overflow or transform of the site covers, clips or
 * moves them. On a narrow screen the panel covers the window and is modal. Source: SPEC WG5, WG7, WG9.
 */

import { chooseShellText } from "./shell-text.ts"
import shellStyles from "../../client/styles/widget/widget-shell.css?inline"

/** In windows up to this width, the panel covers the window. The same query as in widget-shell.css. */
const NARROW = "(max-width: 480px)"

export interface WidgetShell {
  /** The box in which the conversation is rendered. */
  readonly box: HTMLElement
  readonly isOpen: boolean
  /** Opens the panel. Returns false if it was already open. */
  open(): boolean
  /** Closes the panel and moves the focus to the button. Returns false if the panel was already closed. */
  close(): boolean
  /** Marks the button to show that there is something new in the closed panel. */
  markUnread(): void
  applyTheme(theme: string): void
  applyLanguages(tags: readonly string[]): void
}

interface ShellHandlers {
  onToggle(): void
  onEscape(): void
}

/** Adds the styles and the elements to an empty shadow root. */
export function createShell(root: ShadowRoot, hasButton: boolean, handlers: ShellHandlers): WidgetShell {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(shellStyles)
  root.adoptedStyleSheets = [sheet]
  const box = document.createElement("div")
  box.className = "cuecard"
  keepKeysInside(box)
  return hasButton ? createPanel(root, box, handlers) : createInlineBox(root, box)
}

/**
 * Keeps key events inside the widget. A key that is pressed in the widget must not trigger one of the site's shortcuts:
 * the site's handlers can't see that the user is typing, because they receive only the element as the event's target.
 */
function keepKeysInside(element: HTMLElement): void {
  for (const type of ["keydown", "keypress", "keyup"] as const)
    element.addEventListener(type, (event) => event.stopPropagation())
}

function createInlineBox(root: ShadowRoot, box: HTMLElement): WidgetShell {
  root.append(box)
  return {
    box,
    isOpen: true,
    open: () => false,
    close: () => false,
    markUnread() {},
    applyTheme: (theme) => setTheme(box, theme),
    applyLanguages: () => {},
  }
}

function createPanel(root: ShadowRoot, box: HTMLElement, { onToggle, onEscape }: ShellHandlers): WidgetShell {
  const button = createButton(onToggle)
  const panel = document.createElement("dialog")
  panel.className = "panel"
  panel.popover = "manual"
  panel.append(box)
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing && !event.defaultPrevented) onEscape()
  })
  // Escape is handled above, because it may have to stop a running answer instead of closing the panel.
  panel.addEventListener("cancel", (event) => {
    if (event.target === panel) event.preventDefault()
  })
  root.append(button, panel)
  button.showPopover()
  let text = chooseShellText([])
  const isOpen = (): boolean => panel.open || panel.matches(":popover-open")
  const showState = (): void => {
    button.ariaExpanded = String(isOpen())
    button.ariaLabel = isOpen() ? text.close : text.open
  }
  return {
    box,
    get isOpen() {
      return isOpen()
    },
    open() {
      if (isOpen()) return false
      if (matchMedia(NARROW).matches) panel.showModal()
      else panel.showPopover()
      delete button.dataset["unread"]
      showState()
      return true
    },
    close() {
      if (!isOpen()) return false
      if (panel.matches(":popover-open")) panel.hidePopover()
      else panel.close()
      showState()
      button.focus({ preventScroll: true })
      return true
    },
    markUnread() {
      if (!isOpen()) button.dataset["unread"] = ""
    },
    applyTheme(theme) {
      for (const element of [button, panel, box]) setTheme(element, theme)
    },
    applyLanguages(tags) {
      text = chooseShellText(tags)
      panel.ariaLabel = text.name
      for (const element of [button, panel]) element.dir = text.direction
      showState()
    },
  }
}

function setTheme(element: HTMLElement, theme: string): void {
  if (theme === "system") delete element.dataset["theme"]
  else element.dataset["theme"] = theme
}

function createButton(onToggle: () => void): HTMLButtonElement {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "launcher"
  button.popover = "manual"
  button.ariaHasPopup = "dialog"
  button.addEventListener("click", onToggle)
  button.append(
    createIcon(
      "M5 6.5h14a1.5 1.5 0 0 1 1.5 1.5v8a1.5 1.5 0 0 1-1.5 1.5h-6L8.5 21v-3.5H5A1.5 1.5 0 0 1 3.5 16V8A1.5 1.5 0 0 1 5 6.5z",
    ),
    createIcon("M6 9.5l6 6 6-6"),
  )
  return button
}

const SVG = "http://www.w3.org/2000/svg"

function createIcon(data: string): SVGElement {
  const icon = document.createElementNS(SVG, "svg")
  icon.setAttribute("viewBox", "0 0 24 24")
  icon.setAttribute("aria-hidden", "true")
  const path = document.createElementNS(SVG, "path")
  path.setAttribute("d", data)
  icon.append(path)
  return icon
}
