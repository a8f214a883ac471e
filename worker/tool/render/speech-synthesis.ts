/**
 * speech-synthesis.ts: a minimal speech synthesiser: pulses and noise through three resonators, letter by letter. Pure.
 *
 * The result has the length, rhythm and vowels of speech, but is barely intelligible. The same text always gives the
 * same samples.
 */

import { encodeWav } from "./wav-encoder.ts"

/** Samples per second. */
export const SAMPLE_RATE = 16_000

/** The sound of one letter. */
interface Phone {
  readonly ms: number
  /** Resonant frequencies, in hertz. */
  readonly formants: readonly [number, number, number]
  /** Loudness of the voiced part, 0 to 1. */
  readonly voice: number
  /** Loudness of the noise, 0 to 1. */
  readonly breath: number
}

function createPhone(ms: number, formants: Phone["formants"], voice: number, breath: number): Phone {
  return { ms, formants, voice, breath }
}

function createVowel(f1: number, f2: number, f3: number): Phone {
  return createPhone(105, [f1, f2, f3], 1, 0.02)
}

const SILENCE = createPhone(60, [500, 1500, 2500], 0, 0)

const PHONES: Readonly<Record<string, Phone>> = {
  a: createVowel(760, 1250, 2550),
  e: createVowel(530, 1850, 2500),
  i: createVowel(300, 2250, 2950),
  o: createVowel(480, 920, 2450),
  u: createVowel(330, 860, 2300),
  y: createVowel(310, 2000, 2700),
  m: createPhone(70, [260, 1000, 2200], 0.6, 0),
  n: createPhone(65, [280, 1600, 2500], 0.6, 0),
  l: createPhone(60, [360, 1100, 2700], 0.75, 0),
  r: createPhone(60, [400, 1250, 1650], 0.75, 0),
  w: createPhone(55, [310, 700, 2200], 0.75, 0),
  j: createPhone(60, [290, 2200, 2900], 0.7, 0.1),
  s: createPhone(85, [3800, 5200, 6500], 0, 0.5),
  z: createPhone(70, [3500, 5000, 6400], 0.3, 0.35),
  f: createPhone(75, [1500, 3600, 6200], 0, 0.3),
  v: createPhone(55, [400, 1400, 3000], 0.5, 0.15),
  h: createPhone(50, [700, 1500, 2600], 0, 0.3),
  x: createPhone(90, [2200, 4200, 6000], 0, 0.45),
  b: createPhone(50, [300, 900, 2300], 0.5, 0.1),
  d: createPhone(50, [320, 1700, 2600], 0.5, 0.15),
  g: createPhone(50, [300, 2000, 2500], 0.5, 0.15),
  p: createPhone(55, [600, 1000, 2400], 0, 0.4),
  t: createPhone(50, [1800, 3600, 5200], 0, 0.5),
  k: createPhone(55, [900, 2200, 3000], 0, 0.5),
  c: createPhone(55, [900, 2200, 3000], 0, 0.5),
  q: createPhone(55, [900, 1800, 2800], 0, 0.5),
}

/** Converts text to speech, as a WAV file. */
export function synthesizeWav(text: string): { readonly bytes: Uint8Array; readonly seconds: number } {
  const samples = synthesizeSpeech(text)
  return { bytes: encodeWav(samples, SAMPLE_RATE), seconds: Math.round(samples.length / SAMPLE_RATE) }
}

/** Returns the sound of the text, as 16-bit samples. */
export function synthesizeSpeech(text: string): Int16Array {
  const phones = textToPhones(text)
  const samples = new Float32Array(phones.reduce((sum, { ms }) => sum + msToSamples(ms), msToSamples(120)))
  renderSamples(phones, samples)
  return normalizeSamples(samples)
}

function textToPhones(text: string): Phone[] {
  const letters = Array.from(text.normalize("NFD").toLowerCase())
  const phones = letters.flatMap((letter, i): Phone[] => {
    const phone = PHONES[letter]
    if (phone !== undefined) return letters[i - 1] === letter ? [{ ...phone, ms: phone.ms * 0.6 }] : [phone]
    if (/[.!?\n]/.test(letter)) return [{ ...SILENCE, ms: 280 }]
    if (/[,;:–—-]/.test(letter)) return [{ ...SILENCE, ms: 150 }]
    if (/\p{Mark}/u.test(letter)) return []
    // A digit or a letter of another script becomes a vowel. The same character always becomes the same vowel.
    if (/[\p{L}\p{N}]/u.test(letter)) return [PHONES["aeiou".charAt((letter.codePointAt(0) ?? 0) % 5)] ?? SILENCE]
    return [SILENCE]
  })
  return [SILENCE, ...phones, SILENCE]
}

function msToSamples(ms: number): number {
  return Math.round((ms / 1000) * SAMPLE_RATE)
}

/** Creates a two-pole resonator, which models a cavity of the mouth. The resonator glides to the given frequency. */
function createResonator(bandwidth: number) {
  const decay = Math.exp((-Math.PI * bandwidth) / SAMPLE_RATE)
  let [currentHz, previous, beforePrevious] = [1000, 0, 0]
  return (input: number, frequency: number): number => {
    currentHz += (frequency - currentHz) * 0.004
    const b = 2 * decay * Math.cos((2 * Math.PI * currentHz) / SAMPLE_RATE)
    const out = (1 - b + decay * decay) * input + b * previous - decay * decay * beforePrevious
    beforePrevious = previous
    previous = out
    return out
  }
}

function renderSamples(phones: readonly Phone[], samples: Float32Array): void {
  const resonators = [createResonator(90), createResonator(120), createResonator(180)]
  let [n, phase, voice, breath, noise] = [0, 0, 0, 0, 1]
  phones.forEach((phone, index) => {
    const length = msToSamples(phone.ms)
    for (let i = 0; i < length; i++, n++) {
      voice += (phone.voice - voice) * 0.006
      breath += (phone.breath - breath) * 0.012
      // The pitch falls towards the end and varies a little, as in a sentence.
      const pitch = 138 - (34 * index) / phones.length + 7 * Math.sin(n / 5200)
      phase = (phase + pitch / SAMPLE_RATE) % 1
      noise = (Math.imul(noise, 1103515245) + 12345) | 0
      const pulse = phase < 0.4 ? Math.sin((Math.PI * phase) / 0.4) ** 2 - 0.5 : -0.5
      const source = voice * pulse * 1.6 + breath * (noise / 2 ** 31)
      const [a = 0, b = 0, c = 0] = resonators.map((resonate, f) => resonate(source, phone.formants[f] ?? 1000))
      samples[n] = a + b * 0.8 + c * 0.5
    }
  })
}

/** Scales the samples to a fixed peak. */
function normalizeSamples(samples: Float32Array): Int16Array {
  const peak = samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0.001)
  return Int16Array.from(samples, (sample) => Math.round((sample / peak) * 26_000))
}
