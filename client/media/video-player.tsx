/**
 * video-player.tsx: a video with the browser's own controls. Only metadata and the first frame load before it is
 * played.
 *
 * If the URL expires during playback, the URL is renewed and playback continues at the same position. SPEC PG59, PG60.
 */

import type { VNode } from "preact"
import { formatKind } from "../words/media-descriptions.ts"
import { mediaText } from "../words/parts/media-text.ts"
import { ConsentGate } from "./consent-gate.tsx"
import { trackPause, trackPlay } from "./exclusive-playback.ts"
import { useMediaSource } from "./use-media-source.ts"
import { usePlaybackResume } from "./use-playback-resume.ts"

export function VideoView({ url, label }: { readonly url: string; readonly label: string }): VNode {
  const source = useMediaSource(url)
  const resume = usePlaybackResume()
  const { state } = source
  const kind = formatKind({ kind: "video" })
  if (state.at === "closed" || state.at === "failed") {
    return <ConsentGate source={source} url={url} icon="video" kind={kind} label={label} />
  }
  return (
    // biome-ignore lint/a11y/useMediaCaption: the file is a user's or a model's, and comes without captions.
    <video
      src={state.at === "ready" ? state.href : undefined}
      aria-label={mediaText.named(kind, label)}
      controls
      playsInline
      preload="metadata"
      onLoadedMetadata={(event) => {
        source.onLoad()
        resume.restorePosition(event.currentTarget)
      }}
      onError={(event) => {
        resume.savePosition(event.currentTarget)
        source.onError()
      }}
      onPlay={(event) => trackPlay(event.currentTarget)}
      onPause={(event) => trackPause(event.currentTarget)}
    />
  )
}
