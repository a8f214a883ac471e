/** json.test.ts: canonical JSON. */
import { expect, test } from "vitest"
import { toCanonicalJson } from "../../shared/json.ts"

test("[SG1] canonical JSON sorts keys at every depth", () => {
  expect(toCanonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}')
})
