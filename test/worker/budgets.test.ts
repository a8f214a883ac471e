/** budgets.test.ts: tests setting, reading and storing budgets. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_BUDGET, MAX_USER_BUDGETS } from "../../shared/usage/budget-limits.ts"
import { call, refusal, roleToken, tablesOf } from "./http.ts"
import { downloadArchive, exportTenant, importTenant, registerUser } from "./tenant-transfer.ts"

const tenantStubOf = (tenant: string) => env.TENANT.getByName(tenant)
const NONE = { tenant: {}, roles: {}, users: {} }

async function putBudget(tenant: string, change: unknown, role: "owner" | "admin" | "member" | "viewer" = "admin") {
  const body = typeof change === "string" ? change : JSON.stringify(change)
  return await call("/v1/budgets", { method: "PUT", token: await roleToken(tenant, "root", role), body })
}

async function getBudgets(tenant: string) {
  return await call("/v1/budgets", { token: await roleToken(tenant, "root", "admin") })
}

describe("setting budgets", () => {
  test("[BU3] [BU10] a tenant has no budgets at first; reading them stores nothing, and the tenant's sessions receive none", async () => {
    expect(await getBudgets("bu-quiet")).toMatchObject({ status: 200, json: NONE })
    expect(await tenantStubOf("bu-quiet").getBudgetGrant("ada")).toBe(null)
    expect(await tenantStubOf("bu-quiet").getAgentView("general")).not.toHaveProperty("hasBudgets")
    expect(await tablesOf(tenantStubOf("bu-quiet"))).toEqual([])
  })

  test("[BU2] [BU3] a change replaces the limits of the subjects that it names, and null removes their limits", async () => {
    const first = {
      tenant: { tokens_per_month: 1_000_000, cost_per_month: 50_000_000_000 },
      roles: { member: { tokens_per_day: 10_000 } },
      users: { ada: { sessions: 0 }, bob: { stored_bytes: MAX_BUDGET } },
    }
    expect(await putBudget("bu-set", first)).toMatchObject({ status: 200, json: first })
    const second = { tenant: { tokens_per_day: 7 }, users: { ada: null, bob: {} } }
    expect((await putBudget("bu-set", second)).json).toEqual({
      tenant: { tokens_per_day: 7 },
      roles: first.roles,
      users: {},
    })
    expect((await getBudgets("bu-set")).json).toEqual({ tenant: { tokens_per_day: 7 }, roles: first.roles, users: {} })
    expect((await tenantStubOf("bu-set").getBudgetGrant("ada"))?.limits).toEqual({
      tenant: { tokens_per_day: 7 },
      role: { tokens_per_day: 10_000 },
      user: {},
    })
    expect(await tenantStubOf("bu-set").getAgentView("general")).toMatchObject({ hasBudgets: true })
    expect((await putBudget("bu-set", { tenant: null, roles: { member: null } })).json).toEqual(NONE)
    expect(await tenantStubOf("bu-set").getAgentView("general")).not.toHaveProperty("hasBudgets")
  })

  test("[BU2] each change is recorded once in the audit log", async () => {
    await putBudget("bu-audit", { tenant: { tokens_per_day: 5 }, users: { ada: { sessions: 3 } } })
    await putBudget("bu-audit", { tenant: { tokens_per_day: 5 } })
    const { json } = await call("/v1/audit?action=budget.changed", {
      token: await roleToken("bu-audit", "root", "admin"),
    })
    expect(json.entries).toMatchObject([
      { action: "budget.changed", target: "user:ada", details: { sessions: 3 }, actor: { id: "root" } },
      { action: "budget.changed", target: "tenant", details: { tokens_per_day: 5 } },
    ])
  })

  test.each([
    [{ tenant: { tokens_per_day: -1 } }, "tenant.tokens_per_day"],
    [{ tenant: { tokens_per_day: 1e18 } }, "tenant.tokens_per_day"],
    [{ tenant: { cost_per_day: 0.5 } }, "tenant.cost_per_day"],
    [{ tenant: { cost_per_day: "5" } }, "tenant.cost_per_day"],
    [{ tenant: { tokens_per_day: Number.NaN } }, "tenant.tokens_per_day"],
    [{ roles: { member: { sessions: null } } }, "roles.member.sessions"],
    [{ roles: { king: { sessions: 1 } } }, "roles.king"],
    [{ users: { "a b": { sessions: 1 } } }, "users.a b"],
    [{ tenant: { tokens_per_hour: 1 } }, "tenant.tokens_per_hour"],
    [{ everyone: {} }, "everyone"],
    [{ users: { ["__proto__"]: { cost_per_day: 1 } } }, "users"],
    [{ users: { constructor: { cost_per_day: 1 }, ada: { cost_per_day: 1 } } }, "users"],
  ])("[BU19] %j is refused, and changes nothing", async (change, field) => {
    expect(await putBudget("bu-bad", change)).toEqual(refusal(400, "field_invalid", field))
    expect(await tablesOf(tenantStubOf("bu-bad"))).toEqual([])
  })

  test("[BU19] a body that is not JSON is refused", async () => {
    expect(await putBudget("bu-bad", '{"tenant": {"tokens_per_day": NaN}}')).toEqual(refusal(400, "body_malformed"))
  })

  test("[BU19] at most MAX_USER_BUDGETS users can have individual limits", async () => {
    const users = Object.fromEntries(Array.from({ length: MAX_USER_BUDGETS }, (_, i) => [`user-${i}`, { sessions: 1 }]))
    expect((await putBudget("bu-full", { users })).status).toBe(200)
    const more = { users: { ada: { sessions: 1 } } }
    expect(await putBudget("bu-full", more)).toEqual(refusal(400, "field_invalid", "users"))
    expect((await putBudget("bu-full", { users: { ...more.users, "user-3": null } })).status).toBe(200)
  })

  test("[BU3] an export contains the budgets, and an import replaces the importing tenant's budgets", async () => {
    const set = { tenant: { tokens_per_day: 7 }, roles: { member: { sessions: 9 } }, users: { ada: { sessions: 2 } } }
    await putBudget("bu-leave", set)
    await registerUser("bu-leave", "ada")
    const archive = await downloadArchive("bu-leave", await exportTenant("bu-leave"))
    await putBudget("bu-arrive", { roles: { viewer: { sessions: 1 } }, users: { eve: { sessions: 1 } } })
    await importTenant("bu-arrive", archive)
    expect((await getBudgets("bu-arrive")).json).toEqual(set)
    expect(await tenantStubOf("bu-arrive").getBudgetGrant("ada")).toMatchObject({ limits: { user: { sessions: 2 } } })
  })

  test("[BU3] an import takes effect at once, even in a tenant without budgets", async () => {
    await putBudget("bu-leave2", { tenant: { tokens_per_day: 0 } })
    const archive = await downloadArchive("bu-leave2", await exportTenant("bu-leave2"))
    await registerUser("bu-arrive2", "ada")
    expect(await tenantStubOf("bu-arrive2").getAgentView("general")).not.toHaveProperty("hasBudgets")
    await importTenant("bu-arrive2", archive)
    expect(await tenantStubOf("bu-arrive2").getAgentView("general")).toMatchObject({ hasBudgets: true })
    // An archive without budgets changes no budgets.
    const other = await downloadArchive("bu-leave3", await exportTenant("bu-leave3"))
    await putBudget("bu-arrive3", { tenant: { tokens_per_day: 5 } })
    await importTenant("bu-arrive3", other)
    expect((await getBudgets("bu-arrive3")).json.tenant).toEqual({ tokens_per_day: 5 })
  })

  test("[BU2] [BU3] members can neither set nor read budgets", async () => {
    for (const role of ["member", "viewer"] as const) {
      expect(await putBudget("bu-roles", { tenant: {} }, role)).toEqual(refusal(403, "scope_denied"))
      const token = await roleToken("bu-roles", "ada", role)
      expect(await call("/v1/budgets", { token })).toEqual(refusal(403, "scope_denied"))
    }
    expect((await putBudget("bu-roles", { tenant: {} }, "owner")).status).toBe(200)
  })

  test("[BU20] an administrator can't limit owners", async () => {
    const owners = { roles: { owner: { tokens_per_day: 0 } } }
    expect(await putBudget("bu-owners", owners)).toEqual(refusal(403, "scope_denied"))
    await tenantStubOf("bu-owners").registerUser({ id: "boss", role: "owner" })
    expect(await putBudget("bu-owners", { users: { boss: { sessions: 0 } } })).toEqual(refusal(403, "scope_denied"))
    expect((await putBudget("bu-owners", { ...owners, users: { boss: { sessions: 0 } } }, "owner")).status).toBe(200)
  })
})
