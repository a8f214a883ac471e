/**
 * roles-page.test.ts: checks that docs/roles.md shows the access tables of the code. `npx vitest run
 * test/roles-page.test.ts -u` updates the page.
 */

import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { expect, test } from "vitest"
import { ROLES } from "../worker/platform/rpc/claims.ts"
import type { AccessRule, Principal } from "../worker/routes/access/access-table.ts"
import { ACCESS_TABLE } from "../worker/routes/access/administration-rules.ts"
import { FRAME_ACCESS } from "../worker/socket/frame-access.ts"
import { createTable, putTable } from "./support/doc-table.ts"

const PAGE = join(resolve(import.meta.dirname, ".."), "docs/roles.md")

function createRouteRow({ method, path, allow, admitsViewers }: AccessRule): string[] {
  const name = `\`${method} ${path}\``
  if (!Array.isArray(allow)) {
    const who = allow === "open" ? "needs no token" : "needs the operator's secret"
    return [name, who, ...ROLES.slice(1).map(() => ""), "", "", "", ""]
  }
  const admits = (principal: Principal): string => (allow.includes(principal) ? "●" : "")
  const keyRoles = ROLES.filter((role) => allow.includes(`key-${role}`))
  return [
    name,
    ...ROLES.map(admits),
    admitsViewers ? "●" : "",
    admits("external"),
    admits("admin-scope"),
    keyRoles.join(", "),
  ]
}

test("[RL5] docs/roles.md lists who may use each route and each frame", async () => {
  const head = ["route", ...ROLES.map(String), "shared", "external", "`admin` token", "key"]
  const routes = createTable(head, ACCESS_TABLE.map(createRouteRow))
  const frames = createTable(
    ["frame", "owner, admin, member", "viewer", "shared"],
    Object.entries(FRAME_ACCESS).map(([type, access]) => {
      const reads = access === "read" ? "●" : ""
      return [`\`${type}\``, "●", reads, reads]
    }),
  )
  const page = readFileSync(PAGE, "utf8")
  await expect(putTable(putTable(page, "routes", routes), "frames", frames)).toMatchFileSnapshot(PAGE)
})
