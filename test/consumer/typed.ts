/** typed.ts: what a consumer writes in TypeScript; it is checked against the packed types, not run. */

import { type Cuecard, type CuecardOptions, type ModelEvent, startCuecard } from "cuecard/testing"
import { parse, type Segment } from "cuecard"

export const segments: readonly Segment[] = parse("Hello.", [])

const says: readonly ModelEvent[] = [{ type: "text_delta", delta: "Hello." }, { type: "finish" }]
const options: CuecardOptions = { script: [says], port: 0, vars: { WEATHER_SOURCE: "sample" } }

export async function tokenOfEve(): Promise<string> {
  const cuecard: Cuecard = await startCuecard(options)
  const token: string = await cuecard.tokenFor({ user: "eve", expiresIn: 60 })
  // @ts-expect-error: the types are really there.
  cuecard.nothing()
  await cuecard.close()
  return token
}
