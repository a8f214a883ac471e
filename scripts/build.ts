/**
 * build.ts: builds the page, the Worker and the package's entries with their types, in parallel. `build.ts packages`
 * builds only the entries.
 *
 * The output of each build is printed when it ends. The process exits with 1 if a build fails.
 */
import { spawn } from "node:child_process"
import process from "node:process"

const VITE = "node_modules/vite/bin/vite.js"
const TSC = "node_modules/typescript/bin/tsc"

/** The commands of one build, in order, each as arguments of node. */
type Build = readonly (readonly string[])[]

const APP: Build = [[VITE, "build"]]
/** Vite empties the folder into which the types are written, so that build runs first. */
const PACKAGES: readonly Build[] = [
  [
    [VITE, "build", "--mode", "testing"],
    [TSC, "-p", "testing/tsconfig.build.json"],
  ],
  [
    [VITE, "build", "--mode", "sdk"],
    [TSC, "-p", "sdk/tsconfig.build.json"],
  ],
  [[VITE, "build", "--mode", "shared"]],
]

/** Runs `node <args>`. Returns whether it succeeded. */
async function runNode(args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] })
  const chunks: Buffer[] = []
  for (const output of [child.stdout, child.stderr]) output.on("data", (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve))
  process.stdout.write(Buffer.concat(chunks))
  return code === 0
}

async function runBuild(commands: Build): Promise<boolean> {
  for (const args of commands) if (!(await runNode(args))) return false
  return true
}

const builds = process.argv[2] === "packages" ? PACKAGES : [APP, ...PACKAGES]
const results = await Promise.all(builds.map(runBuild))
process.exitCode = results.every(Boolean) ? 0 : 1
