/**
 * waveform.ts: how loud a voice note is, from its beginning to its end, as a few bars.
 *
 * address → bytes → decoded audio → WAVE
 * Only of what is small: it is fetched and decoded for its looks alone. Source: SPEC PG58.
 */

/** Larger files get a plain bar, in bytes: a few minutes of speech. */
const MAX_WAVEFORM_BYTES = 1_500_000
export const WAVEFORM_BARS = 48
/** Enough to see loudness; decoded audio is kept no longer than it is looked at. In Hertz. */
const DECODE_RATE_HZ = 8_000
/** So low is silence. */
const MIN_BAR = 0.06
/** Waves that are remembered, by address. */
const MAX_CACHED_WAVEFORMS = 200

const barsByUrl = new Map<string, readonly number[]>()

/** 0–1 for each bar; null where it cannot be had cheaply. */
export async function loadWaveform(
  url: string,
  href: string,
  size: number | undefined,
): Promise<readonly number[] | null> {
  const known = barsByUrl.get(url)
  if (known !== undefined) return known
  if (size !== undefined && size > MAX_WAVEFORM_BYTES) return null
  try {
    const bytes = await fetchSmallBody(href)
    if (bytes === null) return null
    const audio = await new OfflineAudioContext(1, 1, DECODE_RATE_HZ).decodeAudioData(bytes)
    const bars = samplesToBars(audio.getChannelData(0), WAVEFORM_BARS)
    if (barsByUrl.size >= MAX_CACHED_WAVEFORMS) barsByUrl.clear()
    barsByUrl.set(url, bars)
    return bars
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

/** Root mean squares of equal stretches, the loudest being 1. Pure. */
export function samplesToBars(samples: Float32Array, count: number): readonly number[] {
  const stretch = Math.max(1, Math.floor(samples.length / count))
  const loudness = Array.from({ length: count }, (_, at) => {
    let sum = 0
    for (let i = at * stretch; i < Math.min((at + 1) * stretch, samples.length); i++) sum += (samples[i] ?? 0) ** 2
    return Math.sqrt(sum / stretch)
  })
  const loudest = Math.max(...loudness)
  return loudness.map((one) => (loudest === 0 ? MIN_BAR : Math.max(MIN_BAR, Math.round((one / loudest) * 100) / 100)))
}
