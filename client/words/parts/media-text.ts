/** media-text.ts: the strings of media and canvas documents. */

import { translate } from "../languages/language.ts"
import { formatClock } from "../media-descriptions.ts"

export const mediaText = translate("media", {
  /** "Image: chart.png" */
  named: (kind: string, label: string) => `${kind}: ${label}`,
  fromHost: (kind: string, host: string) => (host === "" ? kind : `${kind} from ${host}`),
  document: "Document",
  load: "Load",
  loadFailed: "Couldn't load.",
  gone: "No longer available.",
  tryAgain: "Try again",
  openInNewTab: "Open in new tab",
  download: "Download",
  downloadFile: (details: string) => `Download ${details}`,
  hostOfFile: (host: string) => `from ${host}`,
  play: "Play",
  pause: "Pause",
  seek: "Seek",
  /** Times are in seconds. `length` is 0 if it is unknown. */
  position: (time: number, length: number) =>
    length > 0 ? `${formatClock(time)} of ${formatClock(length)}` : formatClock(time),
  close: "Close",
  previousImage: "Previous image",
  nextImage: "Next image",
  imageOf: (position: number, count: number) => `${position} of ${count}`,
  fullScreen: "Full screen",
  onAnotherSite: "This content is on another site.",
  capturedTyping: "Paused because it was capturing your typing.",
  floodedPage: "Paused because it was sending too many messages.",
  resume: "Resume",
  unsupported: "Your browser can't open this file.",
})
