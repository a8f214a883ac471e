/** admin.test.ts: the sections of the admin page in a real Chromium, against a real server. */

import { readFile } from "node:fs/promises"
import { describe, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from "../support/oidc-provider.ts"
import { addUser, callApi, dialogButton, openAdmin, rowWith, tokenFor } from "./admin-pages.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

const callApiAs = async (method: string, path: string, body?: object) =>
  await callApi(setup.cuecard, await tokenFor(setup.cuecard, "you", "owner"), method, path, body)

describe("access", () => {
  test.each(["member", "viewer"] as const)(
    "[AD1] a %s is told that they have no access, and sees no section",
    async (role) => {
      const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "users", { role, user: `some-${role}` })
      expect(await page.textContent("h1")).toBe("You don't have access to this page")
      expect(await page.locator("nav").count()).toBe(0)
      await page.click("main a")
      // A viewer's composer disappears once the page knows the role.
      await page.waitForSelector("main.view", SOON)
      expect(errors).toEqual([])
      await page.context().close()
    },
  )

  test("[AD1] the page has the chat page's security headers, and a title for each section", async () => {
    const response = await fetch(`${setup.cuecard.url}/admin`)
    const chat = await fetch(`${setup.cuecard.url}/`)
    expect(response.status).toBe(200)
    for (const name of [
      "content-security-policy",
      "cross-origin-opener-policy",
      "referrer-policy",
      "permissions-policy",
    ])
      expect(response.headers.get(name), name).toBe(chat.headers.get(name))
    const { page } = await openAdmin(setup.browser, setup.cuecard, "keys")
    expect(await page.title()).toBe("API keys · Admin · Cuecard")
    await page.click("nav >> text=Agents")
    await expect.poll(() => page.title()).toBe("Agents · Admin · Cuecard")
    await page.goBack()
    await expect.poll(() => page.textContent("h1")).toBe("API keys")
    await page.context().close()
  })

  test("[AD1] if a request is refused, the server's error text is shown and nothing else changes", async () => {
    const { page } = await openAdmin(setup.browser, setup.cuecard, "agents")
    await page.click("text=Add an agent")
    await page.getByLabel("Name", { exact: true }).fill("Not A Name")
    await page.getByLabel("Instructions").fill("Answer.")
    await dialogButton(page, "Save changes").click()
    await expect.poll(() => page.textContent("dialog .fault")).toBe('The field "name" is missing or invalid.')
    expect(await page.getByLabel("Instructions").inputValue()).toBe("Answer.")
    await page.keyboard.press("Escape")
    expect(await rowWith(page, "Not A Name").count()).toBe(0)
    await page.context().close()
  })
})

describe("users", () => {
  test("[AD2] are found by their id or name; a role can be changed, and a user suspended and restored", async () => {
    for (const user of ["ada", "adele", "bob"]) await addUser(setup.cuecard, user)
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "users")
    await rowWith(page, "bob").waitFor(SOON)
    await callApiAs("PATCH", "/v1/users/bob", { name: "Robert Ádám" })
    const search = page.getByLabel("Search by name or ID")
    await search.fill("AD")
    await expect.poll(() => page.locator(".rows > li code").allTextContents()).toEqual(["ada", "bob", "adele"])
    await search.fill("robert ad")
    await expect
      .poll(() => page.locator(".rows > li").allTextContents())
      .toEqual([expect.stringContaining("Robert Ádám")])
    await callApiAs("PATCH", "/v1/users/bob", { name: null })
    await search.fill("ad")
    await expect.poll(() => page.locator(".rows > li code").allTextContents()).toEqual(["ada", "adele"])
    const ada = page.locator(".rows > li", { has: page.getByText("ada", { exact: true }) })
    await ada.getByRole("combobox").selectOption("viewer")
    expect((await callApiAs("GET", "/v1/users/ada")).body).toMatchObject({ role: "member" })
    await ada.getByRole("button", { name: "Change role" }).click()
    await expect.poll(() => page.textContent(".notice")).toBe("ada is now Viewer.")
    expect((await callApiAs("GET", "/v1/users/ada")).body).toMatchObject({ role: "viewer" })
    await ada.getByRole("button", { name: "Suspend…" }).click()
    await dialogButton(page, "Suspend").click()
    await expect.poll(() => ada.textContent()).toContain("Suspended")
    expect((await callApiAs("GET", "/v1/users/ada")).body).toMatchObject({ status: "suspended" })
    await ada.getByRole("button", { name: "Restore" }).click()
    await expect.poll(() => page.textContent(".notice")).toBe("ada is active again.")
    expect((await callApiAs("GET", "/v1/users/ada")).body).toMatchObject({ status: "active" })
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[AD2] an admin can neither appoint nor change an owner", async () => {
    await addUser(setup.cuecard, "the-owner", "owner")
    await addUser(setup.cuecard, "a-member")
    const { page } = await openAdmin(setup.browser, setup.cuecard, "users", { role: "admin", user: "an-admin" })
    const member = rowWith(page, "a-member").getByRole("combobox")
    await member.waitFor(SOON)
    expect(await member.locator("option").allTextContents()).toEqual(["Admin", "Member", "Viewer"])
    await page.context().close()
  })

  testInFull("[AD2] a long list of users is loaded page by page", async () => {
    const users = Array.from({ length: 103 }, (_, index) => `many-${String(index).padStart(3, "0")}`)
    const token = await tokenFor(setup.cuecard, "you", "owner")
    const { key } = (await callApi(setup.cuecard, token, "POST", "/v1/keys", { name: "many" })).body as { key: string }
    for (const user of users) await callApi(setup.cuecard, key, "POST", "/v1/tokens", { user })
    const { page } = await openAdmin(setup.browser, setup.cuecard, "users")
    await page.getByLabel("Search by name or ID").fill("many-")
    const shown = () => page.locator(".rows > li code").allTextContents()
    await expect.poll(shown).toEqual(users.slice(0, 100))
    await page.getByRole("button", { name: "Show more" }).click()
    await expect.poll(shown).toEqual(users)
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0)
    await page.context().close()
  })
})

describe("API keys", () => {
  test("[AD3] a new key works and is shown only once; it can be rotated and revoked", async () => {
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "keys")
    await page.getByRole("button", { name: "Create an API key" }).click()
    await page.getByLabel("Name", { exact: true }).fill("ci backend")
    await page.getByLabel("Expires").selectOption("month")
    await dialogButton(page, "Create key").click()
    const field = page.locator("dialog[open]").getByLabel("API key", { exact: true })
    await field.waitFor(SOON)
    const key = await field.inputValue()
    expect(key).toMatch(/^ck_demo_[0-9A-Za-z]+_[0-9A-Za-z]+_[0-9A-Za-z]{6}$/)
    expect((await callApi(setup.cuecard, key, "POST", "/v1/tokens", { user: "key-user" })).status).toBe(200)
    // Escape must not close the dialog; only its button may do so.
    await page.keyboard.press("Escape")
    expect(await field.isVisible()).toBe(true)
    await dialogButton(page, "I've stored it").click()
    const row = rowWith(page, "ci backend")
    await expect.poll(() => row.count()).toBe(1)
    expect(await page.content()).not.toContain(key)
    await page.reload()
    await row.waitFor(SOON)
    expect(await row.textContent()).not.toContain("Last usedNever")
    await row.getByRole("button", { name: "Rotate…" }).click()
    await page.getByLabel("The old key works for another").selectOption("none")
    await dialogButton(page, "Create the new key").click()
    await field.waitFor(SOON)
    expect(await field.inputValue()).not.toBe(key)
    expect(
      (await callApi(setup.cuecard, await field.inputValue(), "POST", "/v1/tokens", { user: "key-user" })).status,
    ).toBe(200)
    await dialogButton(page, "I've stored it").click()
    for (;;) {
      await expect.poll(() => page.locator("dialog").count()).toBe(0)
      if ((await row.count()) === 0) break
      const before = await row.count()
      await row.first().getByRole("button", { name: "Revoke…" }).click()
      await dialogButton(page, "Revoke").click()
      await expect.poll(() => row.count()).toBe(before - 1)
    }
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[AD3] an owner can rotate the signing keys and stays signed in; an admin doesn't see the keys", async () => {
    const { page } = await openAdmin(setup.browser, setup.cuecard, "keys")
    const before = await page.locator("section .rows > li").count()
    await page.getByRole("button", { name: "Rotate signing keys…" }).click()
    await dialogButton(page, "Rotate").click()
    await expect.poll(() => page.locator("section .rows > li").count()).toBeGreaterThan(before)
    await page.reload()
    await page.waitForSelector("section .rows > li", SOON)
    await page.context().close()
    const admin = await openAdmin(setup.browser, setup.cuecard, "keys", { role: "admin", user: "an-admin" })
    expect(await admin.page.getByText("Signing keys").count()).toBe(0)
    await admin.page.context().close()
  })
})

describe("sign-in providers", () => {
  test("[AD4] a provider is saved only if its keys are found, can be changed and deleted, and its secret is never shown", async () => {
    const provider = await startOidcProvider({ redirectUris: [`${setup.cuecard.url}/auth/callback/staff`] })
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "issuers")
    await page.getByRole("button", { name: "Add a provider" }).click()
    await page.getByLabel("Short name").fill("staff")
    await page.getByLabel("Button label").fill("Acme Staff")
    await page.getByLabel("Issuer URL").fill(`${provider.issuer}/nowhere`)
    await page.getByLabel("Audience").fill("https://api.example.com")
    await page.getByLabel("Client ID").fill(CLIENT_ID)
    await page.getByLabel("Client secret").fill(CLIENT_SECRET)
    expect(await page.getByRole("textbox", { name: "Redirect URL" }).inputValue()).toBe(
      `${setup.cuecard.url}/auth/callback/staff`,
    )
    await dialogButton(page, "Save and check").click()
    await expect.poll(() => page.locator("dialog .fault").count()).toBe(1)
    expect((await callApiAs("GET", "/v1/issuers")).body).toEqual({ issuers: [] })
    await page.getByLabel("Issuer URL").fill(provider.issuer)
    await dialogButton(page, "Save and check").click()
    const row = rowWith(page, "Acme Staff")
    await row.waitFor(SOON)
    expect(await row.textContent()).toContain("Used for the page's sign-in")
    expect(await page.content()).not.toContain(CLIENT_SECRET)
    await row.getByRole("button", { name: "Edit" }).click()
    expect(await page.getByLabel("Client secret").inputValue()).toBe("")
    await page.getByLabel("Button label").fill("All staff")
    await page.getByText("Advanced").click()
    await page.getByLabel("Claim with the user's role").fill("role")
    await page.getByLabel("Claims that a user must have").fill("hd")
    await dialogButton(page, "Save and check").click()
    await expect.poll(() => page.textContent("dialog .fault")).toContain("“hd” isn't a claim with a value")
    await page.getByLabel("Claims that a user must have").fill("hd = example.com\n\ngroups=staff\ngroups=it=ops")
    await page.getByLabel("Authorized parties").fill("page\nbackend\n")
    await page.getByLabel("Sign-in scopes").fill("openid groups")
    await page.getByLabel("Signing out here also").check()
    await dialogButton(page, "Save and check").click()
    await rowWith(page, "All staff").waitFor(SOON)
    expect((await callApiAs("GET", "/v1/issuers/staff")).body).toMatchObject({
      label: "All staff",
      role_claim: "role",
      has_client_secret: true,
      roles: ["admin", "member", "viewer"],
      required_claims: { hd: ["example.com"], groups: ["staff", "it=ops"] },
      authorized_parties: ["page", "backend"],
      scopes: "openid groups",
      logout: true,
    })
    // The stored values are shown again, and emptying the fields removes them.
    await rowWith(page, "All staff").getByRole("button", { name: "Edit" }).click()
    await page.getByText("Advanced").click()
    const claims = page.getByLabel("Claims that a user must have")
    expect(await claims.inputValue()).toBe("hd=example.com\ngroups=staff\ngroups=it=ops")
    for (const field of [claims, page.getByLabel("Authorized parties"), page.getByLabel("Sign-in scopes")])
      await field.fill("")
    await dialogButton(page, "Save and check").click()
    await expect.poll(() => page.locator("dialog").count()).toBe(0)
    expect((await callApiAs("GET", "/v1/issuers/staff")).body).toMatchObject({
      required_claims: {},
      authorized_parties: [],
      scopes: "openid profile email",
    })
    await rowWith(page, "All staff").getByRole("button", { name: "Delete…" }).click()
    await dialogButton(page, "Delete provider").click()
    await expect.poll(() => page.locator(".rows > li").count()).toBe(0)
    expect((await callApiAs("GET", "/v1/issuers")).body).toEqual({ issuers: [] })
    expect(errors).toEqual([])
    await page.context().close()
    await provider.close()
  })
})

describe("agents and settings", () => {
  test("[AD5] an agent can be added, changed and deleted; the general agent can't be deleted", async () => {
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "agents")
    await page.getByRole("button", { name: "Add an agent" }).click()
    await page.getByLabel("Name", { exact: true }).fill("poet")
    await page.getByLabel("Description").fill("يكتب الشعر")
    await page.getByLabel("Instructions").fill("Answer in verse.")
    await page.getByLabel("speak").check()
    await dialogButton(page, "Save changes").click()
    const poet = rowWith(page, "poet")
    await poet.waitFor(SOON)
    const stored = async () =>
      ((await callApiAs("GET", "/v1/agents")).body as { agents: { name: string }[] }).agents.find(
        ({ name }) => name === "poet",
      )
    expect(await stored()).toEqual({
      name: "poet",
      description: "يكتب الشعر",
      prompt: "Answer in verse.",
      model: null,
      tools: ["speak"],
    })
    await poet.getByRole("button", { name: "Edit" }).click()
    await page.getByLabel("Model").fill("scripted")
    await dialogButton(page, "Save changes").click()
    await expect.poll(() => poet.textContent()).toContain("scripted")
    await poet.getByRole("button", { name: "Delete…" }).click()
    await dialogButton(page, "Delete agent").click()
    await expect.poll(() => poet.count()).toBe(0)
    expect(await stored()).toBe(undefined)
    expect(await rowWith(page, "general").getByRole("button").allTextContents()).toEqual(["Edit"])
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[AD5] [WG1] allowed origins and hosts are edited as lists, and an invalid one is refused with the server's error text", async () => {
    const { page } = await openAdmin(setup.browser, setup.cuecard, "settings")
    const origins = page.getByLabel("Sites that can be embedded")
    await origins.fill("https://charts.example.com\nhttps://maps.example.org")
    await page.getByLabel("Hosts whose images").fill("Images.Example.com")
    await page.getByLabel("Your sites that show").fill("https://*.Example.com")
    await page.getByRole("button", { name: "Save changes" }).click()
    await expect.poll(() => page.textContent(".notice")).toBe("Saved.")
    expect((await callApiAs("GET", "/v1/settings")).body).toEqual({
      embed_origins: ["https://charts.example.com", "https://maps.example.org"],
      media_hosts: ["images.example.com"],
      embed_hosts: ["https://*.example.com"],
    })
    await origins.fill("http://charts.example.com")
    await page.getByRole("button", { name: "Save changes" }).click()
    await expect.poll(() => page.textContent(".settings .fault")).toContain("embed_origins")
    await page.context().close()
    await callApiAs("PUT", "/v1/settings", { embed_origins: [], media_hosts: [] })
  })
})

describe("answer settings", () => {
  test("[AD22] are switched on and off, without changing the lists of origins and hosts", async () => {
    await callApiAs("PUT", "/v1/settings", { media_hosts: ["images.example.com"], show_cost: true })
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "settings")
    const titles = page.getByLabel("Automatic titles")
    const questions = page.getByLabel("Suggest questions")
    const cost = page.getByLabel("Show users the cost")
    await expect.poll(() => cost.isChecked()).toBe(true)
    expect([await titles.inputValue(), await questions.isChecked()]).toEqual(["server", false])
    await titles.selectOption("Off")
    await questions.check()
    await cost.uncheck()
    const save = async (): Promise<object> => {
      await page.getByRole("button", { name: "Save changes" }).click()
      await expect.poll(() => page.textContent(".notice")).toBe("Saved.")
      return (await callApiAs("GET", "/v1/settings")).body
    }
    const lists = { embed_origins: [], media_hosts: ["images.example.com"] }
    expect(await save()).toEqual({ ...lists, titles: false, follow_ups: true })
    await page.reload()
    await expect.poll(() => questions.isChecked()).toBe(true)
    expect([await titles.inputValue(), await cost.isChecked()]).toEqual(["off", false])
    await titles.selectOption("Server default")
    await questions.uncheck()
    expect(await save()).toEqual(lists)
    expect(errors).toEqual([])
    await page.context().close()
    await callApiAs("PUT", "/v1/settings", { embed_origins: [], media_hosts: [] })
  })
})

describe("the audit log", () => {
  test("[AD6] is shown newest first, and can be filtered, downloaded and verified", async () => {
    for (const name of ["one", "two"]) {
      await callApiAs("PUT", `/v1/agents/log-${name}`, { description: "d", prompt: "p" })
      await callApiAs("DELETE", `/v1/agents/log-${name}`)
    }
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "audit")
    await page.waitForSelector(".log > li", SOON)
    const newest = await page.textContent(".log > li")
    expect(newest).toContain("log-two")
    expect(newest).toContain("User you")
    const action = (await page.textContent(".log > li code")) ?? ""
    await page.getByLabel("Action").fill(action)
    await page.getByRole("button", { name: "Filter" }).click()
    await expect
      .poll(async () => new Set(await page.locator(".log > li code").allTextContents()))
      .toEqual(new Set([action]))
    await page.getByLabel("Action").fill("no such thing")
    await page.getByRole("button", { name: "Filter" }).click()
    await expect.poll(() => page.textContent(".pending .fault")).toContain("action")
    await page.getByRole("button", { name: "Clear" }).click()
    await page.waitForSelector(".log > li", SOON)
    await page.getByRole("button", { name: "Verify the log" }).click()
    await expect
      .poll(() => page.textContent(".tools [role=status]"))
      .toMatch(/^The log is intact: [\d,]+ entries checked\.$/)
    const download = page.waitForEvent("download")
    await page.getByRole("button", { name: "Download (.jsonl)" }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe("demo-audit.jsonl")
    const lines = (await readFile(await file.path(), "utf8")).trim().split("\n")
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "audit", tenant: "demo" })
    expect(lines.length).toBeGreaterThan(4)
    expect(errors).toEqual([])
    await page.context().close()
  })
})
