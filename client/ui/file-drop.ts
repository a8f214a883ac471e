/**
 * file-drop.ts: files that are dragged over the page, and who takes them: the list imports them, all else sends them with the
 * next message. Source: SPEC PG35, PG42.
 */

import { type ReadonlySignal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"

type Place = "list" | "conversation"

const LIST = ".sidebar, dialog"

function placeOf(event: DragEvent): Place {
  return event.target instanceof Element && event.target.closest(LIST) !== null ? "list" : "conversation"
}

/** Whether files are over a place now; those that are dropped there are taken. */
export function useDrop(place: Place, onFiles: (files: readonly File[]) => void): ReadonlySignal<boolean> {
  const isOver = useSignal(false)
  const take = useRef(onFiles)
  take.current = onFiles
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return
      // Else the browser leaves the page for the file.
      event.preventDefault()
      isOver.value = event.type === "dragover" && placeOf(event) === place
      if (event.type === "drop" && placeOf(event) === place) take.current(Array.from(event.dataTransfer.files))
    }
    const leave = (): void => {
      isOver.value = false
    }
    addEventListener("dragover", over)
    addEventListener("drop", over)
    addEventListener("dragleave", leave)
    return () => {
      removeEventListener("dragover", over)
      removeEventListener("drop", over)
      removeEventListener("dragleave", leave)
    }
  }, [])
  return isOver
}
