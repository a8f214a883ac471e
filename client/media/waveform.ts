/**
 * waveform.ts: the loudness of a voice note over time, as a few bars. SPEC PG58.
 *
 * The file is fetched and decoded only to draw the bars, so large files are left out.
 */

/** Maximum size of a file for which bars are drawn, in bytes: enough for a few minutes of speech. */
const MAX_WAVEFORM_BYTES = 1_500_000
/** The sample rate to which a file is decoded: enough to measure loudness. */
const DECODE_RATE_HZ = 8_000
/** The height of a silent bar, which must be visible. */
const MIN_BAR = 0.06
const MAX_CACHED_WAVEFORMS = 200

const pathByUrl = new Map<string, string>()

/** Returns `count` bars as an SVG path; null if the file is too large, or can't be fetched or decoded. */
export async function loadWaveformPath(
  url: string,
  href: string,
  size: number | undefined,
  count: number,
): Promise<string | null> {
  const cached = pathByUrl.get(url)
  if (cached !== undefined) return cached
  if (size !== undefined && size > MAX_WAVEFORM_BYTES) return null
  try {
    const bytes = await fetchSmallBody(href)
    if (bytes === null) return null
    const audio = await new OfflineAudioContext(1, 1, DECODE_RATE_HZ).decodeAudioData(bytes)
    const path = barsToPath(samplesToBars(audio.getChannelData(0), count))
    if (pathByUrl.size >= MAX_CACHED_WAVEFORMS) pathByUrl.clear()
    pathByUrl.set(url, path)
    return path
  } catch {
    return null
  }
}

async function fetchSmallBody(href: string): Promise<ArrayBuffer | null> {
  const response = await fetch(href)
  const length = Number(response.headers.get("content-length") ?? MAX_WAVEFORM_BYTES)
  if (response.ok && length <= MAX_WAVEFORM_BYTES) return await response.arrayBuffer()
  void response.body?.cancel()
  return null
}

/** Returns the root mean square of each of `count` equal stretches, scaled so that the loudest one is 1. Pure. */
export function samplesToBars(samples: Float32Array, count: number): readonly number[] {
  const stretch = Math.max(1, Math.floor(samples.length / count))
  const loudness = Array.from({ length: count }, (_, at) => {
    let sum = 0
    for (let i = at * stretch; i < Math.min((at + 1) * stretch, samples.length); i++) sum += (samples[i] ?? 0) ** 2
    return Math.sqrt(sum / stretch)
  })
  const loudest = Math.max(...loudness)
  return loudness.map((level) =>
    loudest === 0 ? MIN_BAR : Math.max(MIN_BAR, Math.round((level / loudest) * 100) / 100),
  )
}

function barsToPath(bars: readonly number[]): string {
  return bars.map((bar, at) => `M${at * 4 + 2} ${(16 - bar * 14).toFixed(1)}V${(16 + bar * 14).toFixed(1)}`).join("")
}
