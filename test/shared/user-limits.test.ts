/** user-limits.test.ts: tests that the rate limits in the code match the platform's bindings. */

import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import {
  MAX_FAILED_SIGN_INS,
  RATE_LIMITS,
  RATE_PERIOD_SECONDS,
  SIGN_IN_PERIOD_SECONDS,
} from "../../shared/user-limits.ts"

const CONFIG = readFileSync(new URL("../../wrangler.toml", import.meta.url), "utf8")
const BINDING =
  /\[\[ratelimits\]\]\nname = "(\w+)"\nnamespace_id = "\d+"\nsimple = \{ limit = (\d+), period = (\d+) \}/g

test("[LI1] the limits in responses match wrangler.toml", () => {
  const bound = Object.fromEntries(
    Array.from(CONFIG.matchAll(BINDING), ([, name, limit, period]) => [name, [Number(limit), Number(period)]]),
  )
  const { write, read, socket } = RATE_LIMITS
  expect(bound).toEqual({
    RATE_WRITE: [write.user, RATE_PERIOD_SECONDS],
    RATE_WRITE_TENANT: [write.tenant, RATE_PERIOD_SECONDS],
    RATE_READ: [read.user, RATE_PERIOD_SECONDS],
    RATE_READ_TENANT: [read.tenant, RATE_PERIOD_SECONDS],
    RATE_SOCKET: [socket.user, RATE_PERIOD_SECONDS],
    RATE_SOCKET_TENANT: [socket.tenant, RATE_PERIOD_SECONDS],
    RATE_SIGN_IN: [MAX_FAILED_SIGN_INS, SIGN_IN_PERIOD_SECONDS],
  })
})
