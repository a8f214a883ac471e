/** protocol-version.test.ts: checks that PROTOCOL_VERSION changes together with the shapes of frames and events. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"

test("[WS11] the grammar matches PROTOCOL_VERSION: change the frame or event shapes and the version together", () => {
  // Comments, layout and order can change freely. A changed shape changes the hash, which reminds you to change the
  // version.
  const grammar = [
    "segment.ts",
    "server-frame.ts",
    "client-frame.ts",
    "http-body.ts",
    "event.ts",
    "input/call-input.ts",
  ]
    .map((file) => readFileSync(new URL(`../../shared/protocol/${file}`, import.meta.url), "utf8"))
    .map((source) => source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ""))
    .flatMap((source) => source.match(/export (?:type|interface) [\s\S]*?(?=\n\n)|Schema = [\s\S]*?(?=\n\n)/g) ?? [])
    .sort()
    .join("\n")
    .replace(/\s+/g, " ")
  const hash = createHash("sha256").update(grammar).digest("hex").slice(0, 16)
  expect(`${PROTOCOL_VERSION} ${hash}`).toBe("4 6f95d91f94c714a8")
})
