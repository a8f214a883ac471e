/** audit-details.test.ts: formats an audit entry's details as one line of text. */

import { expect, test } from "vitest"
import { formatDetails } from "../../client/admin/audit-section.tsx"

test("[AD6] the details of an entry omit fields that aren't set", () => {
  expect(formatDetails({ name: "backend", expires: null, roles: ["admin", "member"] })).toBe(
    "name: backend · roles: admin, member",
  )
  expect(formatDetails({ name: null, role: null })).toBe("")
  expect(formatDetails({ role: "", count: 0, isNew: false })).toBe("count: 0 · isNew: false")
  expect(formatDetails({ roles: "admin,member", note: "one, two" })).toBe("roles: admin, member · note: one, two")
})
