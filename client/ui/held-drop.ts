/**
 * held-drop.ts: keeps files that are dropped before the code for them has loaded. Part of the initial load.
 *
 * Without a listener, the browser would leave the page and show the file. Source: SPEC PG87.
 */

import { getEventRoot, getEventTarget } from "./kept-focus/page-elements.ts"

export type DropTarget = "list" | "conversation"

/** Returns the target of a drop: `list` for the sidebar and dialogs, `conversation` for everything else. */
export function findDropTarget(event: DragEvent): DropTarget {
  const target = getEventTarget(event)
  return target instanceof Element && target.closest(".sidebar, dialog") !== null ? "list" : "conversation"
}

/** The files most recently dropped on each target; null once the code for the target has loaded. */
const held: Record<DropTarget, readonly File[] | null> = { list: [], conversation: [] }

/** Starts keeping dropped files until `takeHeldFiles` is called for their target. */
export function holdDroppedFiles(): void {
  const holdDrop = (event: DragEvent): void => {
    if (event.dataTransfer?.types.includes("Files") !== true) return
    event.preventDefault()
    const target = findDropTarget(event)
    if (event.type === "drop" && held[target] !== null) held[target] = [...event.dataTransfer.files]
  }
  const root = getEventRoot()
  root.addEventListener("dragover", holdDrop)
  root.addEventListener("drop", holdDrop)
}

/** Returns the files that are waiting for a target's code. Files dropped on the target later are not kept. */
export function takeHeldFiles(target: DropTarget): readonly File[] {
  const files = held[target] ?? []
  held[target] = null
  return files
}
