/**
 * file-drop.ts: handles files that are dragged over the page. Files that are dropped on the sidebar or a dialog are
 * imported. Files that are dropped anywhere else are attached to the next message. Source: SPEC PG35, PG42.
 */

import { type ReadonlySignal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { type DropTarget, findDropTarget, takeHeldFiles } from "./held-drop.ts"
import { getEventRoot } from "./kept-focus/page-elements.ts"

/** Returns whether files are being dragged over the target. Files dropped on it are passed to `onFiles`. */
export function useFileDrop(
  dropTarget: DropTarget,
  onFiles: (files: readonly File[]) => void,
): ReadonlySignal<boolean> {
  const isOver = useSignal(false)
  const onFilesRef = useRef(onFiles)
  onFilesRef.current = onFiles
  useEffect(() => {
    const held = takeHeldFiles(dropTarget)
    if (held.length > 0) onFilesRef.current(held)
    const onDrag = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return
      // Otherwise the browser would navigate to the file.
      event.preventDefault()
      isOver.value = event.type === "dragover" && findDropTarget(event) === dropTarget
      if (event.type === "drop" && findDropTarget(event) === dropTarget)
        onFilesRef.current(Array.from(event.dataTransfer.files))
    }
    const onDragLeave = (): void => {
      isOver.value = false
    }
    const root = getEventRoot()
    root.addEventListener("dragover", onDrag)
    root.addEventListener("drop", onDrag)
    root.addEventListener("dragleave", onDragLeave)
    return () => {
      root.removeEventListener("dragover", onDrag)
      root.removeEventListener("drop", onDrag)
      root.removeEventListener("dragleave", onDragLeave)
    }
  }, [])
  return isOver
}
