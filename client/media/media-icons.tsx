/** media-icons.tsx: the icons for the kinds of media and for the actions on them. */

import type { VNode } from "preact"
import type { MediaKind } from "../words/media-descriptions.ts"

export type MediaIconName =
  | MediaKind
  | "voice"
  | "canvas"
  | "play"
  | "pause"
  | "download"
  | "close"
  | "back"
  | "on"
  | "grow"
  | "panel"

const ICON_PATHS: { readonly [K in MediaIconName]: string } = {
  image: "M3.5 4.5h13v11h-13zM3.5 13l3.6-3.6 3 3 2.4-2.4 4 4M12.8 7.6h.01",
  audio: "M7 14.5V5l9-1.5V13M7 14.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM16 13a2 2 0 1 1-4 0 2 2 0 0 1 4 0z",
  video: "M3.5 5.5h9v9h-9zM12.5 9l4-2.5v7l-4-2.5",
  file: "M5.5 3.5h6l3 3v10h-9zM11.5 3.5v3h3",
  voice: "M10 3.5a2 2 0 0 1 2 2v4a2 2 0 0 1-4 0v-4a2 2 0 0 1 2-2zM5.5 9.5a4.5 4.5 0 0 0 9 0M10 14v2.5",
  canvas: "M3.5 4.5h13v11h-13zM3.5 7.5h13M5.6 6h.01M7.6 6h.01",
  play: "M7 4.8v10.4L15.2 10z",
  pause: "M7 5v10M13 5v10",
  download: "M10 3.5V12M6.5 8.8L10 12.3l3.5-3.5M4 15.5h12",
  close: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  back: "M12 4.5L6.5 10l5.5 5.5",
  on: "M8 4.5l5.5 5.5L8 15.5",
  panel: "M3.5 4.5h13v11h-13zM11.5 4.5v11M13.5 7.5h1M13.5 10h1",
  grow: "M8 3.5H3.5V8M12 3.5h4.5V8M8 16.5H3.5V12M12 16.5h4.5V12",
}

export function MediaIcon({ name }: { readonly name: MediaIconName }): VNode {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true" data-icon={name}>
      <path d={ICON_PATHS[name]} />
    </svg>
  )
}
