/** video.tsx: a film with the browser's own controls; nothing of it but its first frame comes before it is played. */

import type { VNode } from "preact"
import { Gate } from "./gate.tsx"
import { notePause, notePlay } from "./sound.ts"
import { useSource } from "./source.ts"

export function VideoView({ url, label }: { readonly url: string; readonly label: string }): VNode {
  const source = useSource(url)
  const { state } = source
  if (state.at === "closed" || state.at === "failed") {
    return <Gate source={source} url={url} icon="video" kind="Video" label={label} />
  }
  return (
    // biome-ignore lint/a11y/useMediaCaption: it is somebody's file, and nobody has written down what is said in it.
    <video
      src={state.at === "ready" ? state.href : undefined}
      aria-label={`Video: ${label}`}
      controls
      playsInline
      preload="metadata"
      onLoadedMetadata={source.onLoad}
      onError={source.onError}
      onPlay={(event) => notePlay(event.currentTarget)}
      onPause={(event) => notePause(event.currentTarget)}
    />
  )
}
