/** typed.ts: TypeScript code as in another project. It is checked against the packed types but not run. */

import { type Cuecard, type CuecardOptions, type ModelEvent, startCuecard } from "cuecard/testing"
import { parse, type Segment } from "cuecard"

export const segments: readonly Segment[] = parse("Hello.", [])

const events: readonly ModelEvent[] = [{ type: "text_delta", delta: "Hello." }, { type: "finish" }]
const options: CuecardOptions = { script: [events], port: 0, vars: { WEATHER_SOURCE: "sample" } }

export async function tokenOfEve(): Promise<string> {
  const cuecard: Cuecard = await startCuecard(options)
  const token: string = await cuecard.tokenFor({ user: "eve", expiresIn: 60 })
  // @ts-expect-error: proves that the types are not `any`.
  cuecard.nothing()
  await cuecard.close()
  return token
}
