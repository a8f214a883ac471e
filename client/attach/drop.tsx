/**
 * drop.tsx: files that are dropped on the conversation go with the next message. Those for the list are an import's
 * (import/place.tsx). Source: SPEC PG42.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"

/** Who takes files that are dropped there for something else. */
const ELSEWHERE = ".sidebar, dialog"

export function isElsewhere(event: DragEvent): boolean {
  return event.target instanceof Element && event.target.closest(ELSEWHERE) !== null
}

export function DropPlace({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): VNode | null {
  const isOver = useSignal(false)
  const take = useRef(onFiles)
  take.current = onFiles
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return
      isOver.value = event.type === "dragover" && !isElsewhere(event)
      if (event.type !== "drop" || isElsewhere(event)) return
      take.current(Array.from(event.dataTransfer.files))
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
  if (!isOver.value) return null
  return (
    <div class="drop" aria-hidden="true">
      <p>Drop files to send them with your message</p>
    </div>
  )
}
