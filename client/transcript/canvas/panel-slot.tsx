/**
 * panel-slot.tsx: the container of the panel, which loads the panel's code when a document is opened in it. SPEC CP1.
 */

import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import { useMediaContext } from "../../media/loading/media-context.ts"
import type { TranscriptStore } from "../../session/transcript-store.ts"
import { deferModule } from "../../ui/deferred-module.ts"

const canvasPanel = /* @__PURE__ */ deferModule(() => import("./canvas-panel.tsx"))

export function CanvasPanelSlot({ store }: { readonly store: TranscriptStore }): VNode | null {
  const panel = useMediaContext()?.panel
  const opened = panel?.value ?? null
  useEffect(() => {
    if (opened === null || panel === undefined) return
    // If the code can't be loaded, the button in the conversation tries again.
    void canvasPanel.load().then((isLoaded) => {
      if (!isLoaded) panel.value = null
    })
  }, [opened])
  const CanvasPanel = canvasPanel.module.value?.CanvasPanel
  if (opened === null || panel === undefined || CanvasPanel === undefined) return null
  return <CanvasPanel store={store} opened={opened} panel={panel} />
}
