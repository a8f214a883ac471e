/**
 * waveform.ts: how loud a voice note is, from its beginning to its end, as a few bars.
 *
 * address → bytes → decoded audio → WAVE
 * Only of what is small: it is fetched and decoded for its looks alone. Source: SPEC PG39.
 */

/** Larger files get a plain bar, in bytes: a few minutes of speech. */
const MAX_WAVE_BYTES = 1_500_000
export const WAVE_BARS = 48
/** Enough to see loudness; decoded audio is kept no longer than it is looked at. In Hertz. */
const WAVE_RATE = 8_000
/** So low is silence. */
const FLOOR = 0.06
/** Waves that are remembered, by address. */
const MAX_KEPT = 200

const kept = new Map<string, readonly number[]>()

/** 0–1 for each bar; null where it cannot be had cheaply. */
export async function waveOf(url: string, href: string, size: number | undefined): Promise<readonly number[] | null> {
  const known = kept.get(url)
  if (known !== undefined) return known
  if (size !== undefined && size > MAX_WAVE_BYTES) return null
  try {
    const bytes = await smallBody(href)
    if (bytes === null) return null
    const audio = await new OfflineAudioContext(1, 1, WAVE_RATE).decodeAudioData(bytes)
    const bars = barsOf(audio.getChannelData(0), WAVE_BARS)
    if (kept.size >= MAX_KEPT) kept.clear()
    kept.set(url, bars)
    return bars
  } catch {
    return null
  }
}

async function smallBody(href: string): Promise<ArrayBuffer | null> {
  const response = await fetch(href)
  const length = Number(response.headers.get("content-length") ?? MAX_WAVE_BYTES)
  if (response.ok && length <= MAX_WAVE_BYTES) return await response.arrayBuffer()
  void response.body?.cancel()
  return null
}

/** Root mean squares of equal stretches, the loudest being 1. Pure. */
export function barsOf(samples: Float32Array, count: number): readonly number[] {
  const stretch = Math.max(1, Math.floor(samples.length / count))
  const loud = Array.from({ length: count }, (_, at) => {
    let sum = 0
    for (let i = at * stretch; i < Math.min((at + 1) * stretch, samples.length); i++) sum += (samples[i] ?? 0) ** 2
    return Math.sqrt(sum / stretch)
  })
  const most = Math.max(...loud)
  return loud.map((one) => (most === 0 ? FLOOR : Math.max(FLOOR, Math.round((one / most) * 100) / 100)))
}
