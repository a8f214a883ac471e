/**
 * consumer.test.ts: packs this package as a registry would get it, unpacks it into a consumer's node_modules and runs the
 * consumer's own tests, so that the published files and exports are really what is tested. Offline.
 */

import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"
import { workerdBelow } from "../../testing/process.ts"

const HERE = fileURLToPath(new URL(".", import.meta.url))
const ROOT = fileURLToPath(new URL("../..", import.meta.url))

let base = ""
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "cuecard-consumer-"))
  const app = join(base, "app")
  mkdirSync(join(app, "node_modules/cuecard"), { recursive: true })
  for (const file of ["package.json", "chat.test.js"]) copyFileSync(join(HERE, file), join(app, file))
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", base], { cwd: ROOT })
  const packed = readdirSync(base).find((name) => name.endsWith(".tgz")) ?? ""
  execFileSync("tar", ["-xzf", join(base, packed), "--strip-components=1", "-C", join(app, "node_modules/cuecard")])
  // What a registry would install beside it: found one folder up.
  symlinkSync(join(ROOT, "node_modules"), join(base, "node_modules"))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

test("[TE1] a consumer's tests pass with nothing but the packed files of `cuecard/testing`", () => {
  const unpacked = join(base, "app/node_modules/cuecard")
  expect(existsSync(join(unpacked, "dist/testing/index.js"))).toBe(true)
  expect(existsSync(join(unpacked, "dist/testing/types/testing/index.d.ts"))).toBe(true)
  expect(existsSync(join(unpacked, "worker"))).toBe(false)
  const output = execFileSync(process.execPath, ["--test"], { cwd: join(base, "app"), encoding: "utf8" })
  expect(output).toMatch(/pass 2/)
  expect(output).toMatch(/fail 0/)
})

test("[TE2] close leaves no process and no folder behind; a kill loses nothing that was acknowledged", async () => {
  const { startCuecard } = await import("cuecard/testing")
  const folders = (): string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith("cuecard-") && !base.endsWith(name))
  const [processes, before] = [workerdBelow(process.pid), folders()]
  const state = mkdtempSync(join(tmpdir(), "state-"))
  const first = await startCuecard({ persist: state })
  const { id } = await first.createSession("kept")
  const say = {
    method: "POST",
    headers: { authorization: `Bearer ${first.token}` },
    body: '{"id":"m1","content":"/say hi"}',
  }
  expect((await fetch(`${first.url}/v1/sessions/${id}/messages`, say)).status).toBe(202)
  await first.kill()
  const second = await startCuecard({ persist: state })
  const headers = { authorization: `Bearer ${second.token}` }
  const page = await (await fetch(`${second.url}/v1/sessions/${id}/conversation/recent`, { headers })).json()
  expect(page.messages[0]).toMatchObject({ id: "m1", content: "/say hi" })
  await second.close()
  rmSync(state, { recursive: true })
  expect(folders()).toEqual(before)
  await expect.poll(() => workerdBelow(process.pid)).toEqual(processes)
})
