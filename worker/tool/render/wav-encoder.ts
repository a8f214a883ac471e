/**
 * wav-encoder.ts: encodes samples as a WAV file: 16 bits, one channel. Pure.
 */

const HEADER_BYTES = 44

export function encodeWav(samples: Int16Array, sampleRate: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + samples.length * 2)
  const view = new DataView(bytes.buffer)
  const writeAscii = (at: number, text: string): void => {
    for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  }
  writeAscii(0, "RIFF")
  view.setUint32(4, bytes.length - 8, true)
  writeAscii(8, "WAVEfmt ")
  view.setUint32(16, 16, true) // length of the format chunk
  view.setUint16(20, 1, true) // PCM
  view.setUint16(22, 1, true) // channels
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, sampleRate * 2, true) // bytes per second
  view.setUint16(32, 2, true) // bytes per sample
  view.setUint16(34, 16, true) // bits per sample
  writeAscii(36, "data")
  view.setUint32(40, samples.length * 2, true)
  for (const [i, sample] of samples.entries()) view.setInt16(HEADER_BYTES + i * 2, sample, true)
  return bytes
}
