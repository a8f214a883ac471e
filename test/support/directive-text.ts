/** directive-text.ts: generates text with many complete and partial directives, for property tests. */

import fc from "fast-check"
import type { Asset } from "../../shared/protocol/event.ts"
import { shortText } from "./model-text.ts"

export const IMAGE: Asset = { id: "a", kind: "image", mime_type: "image/png", label: "A", size: 3 }
export const SOUND: Asset = { id: "s", kind: "audio", mime_type: "audio/wav", label: "S", size: 4 }

const DIRECTIVES = [
  "MEDIA:",
  "\nMEDIA: ",
  "media: https://a.com/x.png",
  "\n  MEDIA: `https://a.com/y.mp3`",
  "https://a.com/x.mp3",
  "/media/a",
  "/media/s",
  " `/media/none`",
  "/etc/x",
  "[[",
  "]]",
  "[[audio_as_voice]]",
  "[[reply_to_current]]",
  "[[reply_to:m1]]",
  "[[reply_to: m9 ]]",
  "audio_as_voice",
  "[",
  "]",
  "[embed ",
  "[embed ref='a' /]",
  'ref="b"',
  " title='x",
  "/]",
  "[embed\n url='https://ok.com/' height='300'/]",
  "<span id='weather_1'>",
  "</span>",
  "<span id='weather_9'>",
  "</spa",
  "\n",
  "\n\n",
  " ",
  "    ",
  "```",
  "`",
  "\n~~~\n",
  "- ",
  "> ",
  "\\",
  "m",
  "e",
  "a,",
]

const few = fc.uniqueArray(fc.constantFrom(...DIRECTIVES), { minLength: 2, maxLength: 8 })
const joined = (part: fc.Arbitrary<string>) => fc.array(part, { maxLength: 16, size: "max" }).map((all) => all.join(""))
/**
 * Generates text with directives that overlap each other, span tags, code, lists and quotes. Some of it repeats only a
 * few fragments.
 */
export const directiveText = fc.oneof(
  joined(fc.constantFrom(...DIRECTIVES)),
  few.chain((some) => joined(fc.constantFrom(...some))),
  fc
    .tuple(joined(fc.constantFrom(...DIRECTIVES)), shortText, joined(fc.constantFrom(...DIRECTIVES)))
    .map((all) => all.join("")),
)
