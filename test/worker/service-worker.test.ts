/**
 * service-worker.test.ts: tests the service worker's script, and which pages may register it, for different
 * deployments.
 */

import { expect, test } from "vitest"
import { call, HOST, refusal } from "./http.ts"

const PAGE = '<!doctype html><meta name="cuecard-service-worker" content="" />'

/** A fake asset binding, in place of the platform's. */
const ASSETS = {
  async fetch(request: Request | URL) {
    const isScript = new URL(request instanceof Request ? request.url : request).pathname === "/service-worker.js"
    return new Response(isScript ? "the worker" : PAGE, {
      headers: { "content-type": isScript ? "text/javascript" : "text/html; charset=utf-8", etag: '"1"' },
    })
  },
}
const ON = { ASSETS, SERVICE_WORKER: "on" }

async function readPolicy(path: string, env: object): Promise<{ text: string; worker: string; types: string }> {
  const { text, headers } = await call(path, { env })
  const policy = headers.get("content-security-policy") ?? ""
  const find = (name: string): string => policy.split("; ").find((directive) => directive.startsWith(`${name} `)) ?? ""
  return { text, worker: find("worker-src"), types: find("trusted-types") }
}

test("[SW7] only the chat page may register the worker, with one policy", async () => {
  for (const path of ["/", "/index.html", "/?from=start"]) {
    const { text, worker, types } = await readPolicy(path, ON)
    expect(text).toContain('content="on"')
    expect(worker).toBe(`worker-src ${HOST}/service-worker.js`)
    expect(types).toBe("trusted-types cuecard-service-worker")
  }
  for (const path of ["/admin", "/embed", "/embed?tenant=demo", "/share/none", "/share"]) {
    const { text, worker, types } = await readPolicy(path, ON)
    expect([path, text, worker, types]).toEqual([path, PAGE, "worker-src 'none'", "trusted-types 'none'"])
  }
})

test("[SW7] the worker itself may only send requests to its origin, and is never cached", async () => {
  const { status, text, headers } = await call("/service-worker.js", { env: ON })
  expect({ status, text }).toEqual({ status: 200, text: "the worker" })
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "no-cache",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": expect.stringMatching(
      /^default-src 'none'; connect-src 'self'; .*trusted-types 'none'$/,
    ),
  })
  expect(headers.get("etag")).toBeNull()
  expect(headers.get("service-worker-allowed")).toBeNull()
})

test.each([
  ["off", { SERVICE_WORKER: "off" }],
  ["a misspelt value", { SERVICE_WORKER: "onn" }],
  ["no value on a developer's machine", {}],
  [
    "a page that isn't built",
    { SERVICE_WORKER: "on", ASSETS: { fetch: async () => new Response("", { status: 404 }) } },
  ],
])("[SW8] with %s, the script removes the worker", async (_name, env) => {
  const { status, text } = await call("/service-worker.js", { env: { ASSETS, ...env } })
  expect(status).toBe(200)
  expect(text).toContain("registration.unregister()")
})

test("[SW8] without the worker, the page's policy allows no worker and no trusted types", async () => {
  const { text, worker, types } = await readPolicy("/", { ASSETS, SERVICE_WORKER: "off" })
  expect([text, worker, types]).toEqual([PAGE, "worker-src 'none'", "trusted-types 'none'"])
})

test("[SW8] a production deployment has the worker by default", async () => {
  const secret = "a-secret-of-a-production-deployment-0123456789"
  const production = { ASSETS, ENVIRONMENT: "production", AUTH: "jwt", JWT_SECRET: secret, OPERATOR_SECRET: undefined }
  expect((await call("/service-worker.js", { env: production })).text).toBe("the worker")
  expect((await readPolicy("/", production)).text).toContain('content="on"')
})

test("[SW6] the origin of canvas documents has no worker", async () => {
  const vars = { ...ON, CANVAS_ORIGIN: "https://canvas.test", PAGE_ORIGIN: HOST }
  expect(await call("https://canvas.test/service-worker.js", { env: vars })).toEqual(refusal(404, "route_unknown"))
})
