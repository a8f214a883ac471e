/** dictation.ts: converts speech to text with the browser's speech recognition, if there is one. Source: SPEC WR32. */

/** The part of the Web Speech API that is used here. TypeScript has no types for it. */
interface SpeechRecognitionLike {
  lang: string
  continuous: boolean
  interimResults: boolean
  onresult: ((event: RecognitionEvent) => void) | null
  onerror: ((event: { readonly error: string }) => void) | null
  onend: (() => void) | null
  start(): void
  stop(): void
}

interface RecognitionEvent {
  readonly resultIndex: number
  readonly results: ArrayLike<ArrayLike<{ readonly transcript: string }> & { readonly isFinal: boolean }>
}

type RecognitionClass = new () => SpeechRecognitionLike

function findRecognition(): RecognitionClass | undefined {
  const { SpeechRecognition, webkitSpeechRecognition } = globalThis as unknown as {
    readonly SpeechRecognition?: RecognitionClass
    readonly webkitSpeechRecognition?: RecognitionClass
  }
  return SpeechRecognition ?? webkitSpeechRecognition
}

export function canDictate(): boolean {
  return findRecognition() !== undefined
}

export interface DictationHandlers {
  /** Called with each finished phrase. */
  onText(text: string): void
  onEnd(hasFailed: boolean): void
}

/** Starts listening. Returns a function that stops it. */
export function startDictation(language: string, { onText, onEnd }: DictationHandlers): () => void {
  const Recognition = findRecognition()
  if (Recognition === undefined) return () => {}
  const recognition = new Recognition()
  let hasFailed = false
  recognition.lang = language
  recognition.continuous = true
  recognition.interimResults = false
  recognition.onresult = ({ resultIndex, results }) => {
    for (let at = resultIndex; at < results.length; at += 1) {
      const result = results[at]
      if (result?.isFinal === true) onText(result[0]?.transcript ?? "")
    }
  }
  recognition.onerror = ({ error }) => {
    hasFailed = error !== "no-speech" && error !== "aborted"
  }
  recognition.onend = () => onEnd(hasFailed)
  recognition.start()
  return () => recognition.stop()
}

/** Appends a phrase to text, and adds a space between them if one is missing. */
export function appendPhrase(text: string, phrase: string): string {
  const added = phrase.trim()
  return text === "" || /\s$/.test(text) ? text + added : `${text} ${added}`
}
