/** upstream-client.ts: lets a test in workerd reach the loopback upstreams. */

import type { Seen } from "./upstreams.ts"

/** Returns the URL of the upstreams, which a binding from globalSetup provides. */
export function upstreamUrl(env: object): string {
  const url: unknown = Reflect.get(env, "UPSTREAM_URL")
  if (typeof url !== "string") throw new Error("test/support/upstreams.ts provided no UPSTREAM_URL")
  return url
}

/** Returns the requests of a run that the upstreams have received. */
export async function readUpstream(env: object, run: string): Promise<Seen[]> {
  const reply = await fetch(`${upstreamUrl(env)}/seen/${run}`)
  return (await reply.json()) as Seen[]
}
