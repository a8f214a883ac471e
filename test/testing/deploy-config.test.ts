/**
 * deploy-config.test.ts: tests that wrangler.toml, .dev.vars.example and package.json describe one production
 * deployment. The local environment may differ from it only where a machine without an account requires a difference.
 */

import { existsSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { unstable_readConfig } from "wrangler"

/** The parts of a configuration that are compared. */
interface Config {
  readonly name: string
  readonly vars: Readonly<Record<string, string>>
  readonly workers_dev: boolean
  readonly observability: object
  readonly migrations: readonly object[]
  readonly assets: object
  readonly compatibility_date: string
  readonly compatibility_flags: readonly string[]
  readonly durable_objects: { readonly bindings: readonly { readonly name: string }[] }
  readonly r2_buckets: readonly { readonly binding: string }[]
  readonly ratelimits: readonly { readonly name: string }[]
  readonly analytics_engine_datasets: readonly { readonly binding: string }[]
}

const readConfig = (env: string): Config =>
  unstable_readConfig({ config: "wrangler.toml", env }, { hideWarnings: true })
const production = readConfig("")
const local = readConfig("local")
const packageJson: {
  readonly scripts: Readonly<Record<string, string>>
  readonly cloudflare?: { readonly bindings: Readonly<Record<string, { readonly description: string }>> }
} = JSON.parse(readFileSync("package.json", "utf8"))

/** The file with a fresh clone's secrets, because `.env` files and `.dev.vars` are not in Git. */
const EXAMPLE = ".dev.vars.example"

function readExample(): string[] {
  const text = existsSync(EXAMPLE) ? readFileSync(EXAMPLE, "utf8") : ""
  return [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => `${name}${value}`)
}

function bindingNames(config: Config): string[] {
  return [
    ...config.durable_objects.bindings.map(({ name }) => name),
    ...config.r2_buckets.map(({ binding }) => binding),
    ...config.ratelimits.map(({ name }) => name),
    ...config.analytics_engine_datasets.map(({ binding }) => binding),
  ].sort()
}

describe("wrangler.toml", () => {
  test("[DP1] defines production at its top level, complete except for the secrets", () => {
    expect(production.vars).toMatchObject({ ENVIRONMENT: "production", AUTH: "jwt" })
    expect(Object.keys(production.vars).filter((name) => /SECRET|KEY/.test(name))).toEqual([])
    expect(production.workers_dev).toBe(true)
    expect(production.observability).toMatchObject({ enabled: true })
  })

  test("[OB8] the platform logs no query strings, and records no traces of its own", () => {
    expect(production.observability).toMatchObject({ redact_query_string: true, traces: { enabled: false } })
  })

  test("[DP1] [env.local] serves a developer's machine and nothing else", () => {
    expect(local.vars).toMatchObject({ ENVIRONMENT: "local", AUTH: "dev", MODEL: "scripted", WEATHER_SOURCE: "sample" })
    expect(local.workers_dev).toBe(false)
  })

  test("[DP1] both environments have the same name, code, classes and page; local objects are where 0.1.0 stored them", () => {
    for (const config of [production, local]) {
      // wrangler derives the folders in a state directory from the Worker's name.
      expect(config.name).toBe("cuecard")
      expect(config.durable_objects).toEqual(production.durable_objects)
      expect(config.migrations).toEqual(production.migrations)
      expect(config.assets).toEqual(production.assets)
      expect(config.compatibility_date).toBe(production.compatibility_date)
      expect(config.compatibility_flags).toEqual(production.compatibility_flags)
    }
    // Locally, one bucket serves all regions.
    expect(bindingNames(local)).toEqual(bindingNames(production))
  })
})

describe("the Deploy button", () => {
  test("[DP2] asks for every secret, with an empty value, and describes all secrets and all resources that it creates", () => {
    const secrets = readExample()
    expect(secrets).toEqual(expect.arrayContaining(["JWT_SECRET", "OPERATOR_SECRET", "MODEL_API_KEY"]))
    const described = packageJson.cloudflare?.bindings ?? {}
    // Users do not choose rate limits and data sets, so these are not described as resources.
    const created = [
      ...production.durable_objects.bindings.map(({ name }) => name),
      ...production.r2_buckets.map(({ binding }) => binding),
    ]
    expect(Object.keys(described).sort()).toEqual([...secrets, ...created].sort())
    for (const { description } of Object.values(described)) expect(description).toMatch(/^[A-Z].{10,140}\.$/)
  })

  test("[DP2] runs scripts that exist, and the documentation contains its link", () => {
    expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(["build", "deploy"]))
    expect(readFileSync("docs/deployment.md", "utf8")).toContain("https://deploy.workers.cloudflare.com/?url=")
  })
})
