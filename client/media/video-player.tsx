/**
 * video-player.tsx: a film with the browser's own controls; nothing of it but its first frame comes before it is played.
 *
 * An address that ran out in the middle is renewed, and it goes on where it was. Source: SPEC PG59, PG60.
 */

import type { VNode } from "preact"
import { ConsentGate } from "./consent-gate.tsx"
import { usePlaybackResume } from "./use-playback-resume.ts"
import { trackPause, trackPlay } from "./exclusive-playback.ts"
import { useMediaSource } from "./use-media-source.ts"

export function VideoView({ url, label }: { readonly url: string; readonly label: string }): VNode {
  const source = useMediaSource(url)
  const playbackResume = usePlaybackResume()
  const { state } = source
  if (state.at === "closed" || state.at === "failed") {
    return <ConsentGate source={source} url={url} icon="video" kind="Video" label={label} />
  }
  return (
    // biome-ignore lint/a11y/useMediaCaption: it is somebody's file, and nobody has written down what is said in it.
    <video
      src={state.at === "ready" ? state.href : undefined}
      aria-label={`Video: ${label}`}
      controls
      playsInline
      preload="metadata"
      onLoadedMetadata={(event) => {
        source.onLoad()
        playbackResume.restorePosition(event.currentTarget)
      }}
      onError={(event) => {
        playbackResume.savePosition(event.currentTarget)
        source.onError()
      }}
      onPlay={(event) => trackPlay(event.currentTarget)}
      onPause={(event) => trackPause(event.currentTarget)}
    />
  )
}
