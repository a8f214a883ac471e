/**
 * tenant-archive.ts: `npm run tenant -- export` and `import`. Each returns the server's response and the text to print.
 *
 * An archive is a folder with `manifest.json` and `<n>.cuecard`. Both commands continue where an earlier run ended.
 */

import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as v from "valibot"
import { parseJson } from "../../shared/json.ts"
import { type TenantAccess, withAccess } from "./owner-access.ts"
import { followJob, formatTally } from "./tenant-job.ts"
import { type JsonObject, type ServerOptions, UsageError } from "./tenant-request.ts"

export const MANIFEST_NAME = "manifest.json"

const manifestSchema = v.object({
  format: v.literal("cuecard-tenant"),
  id: v.string(),
  tenant: v.string(),
  files: v.array(v.object({ n: v.number(), bytes: v.number(), sha256: v.string() })),
})

type Manifest = v.InferOutput<typeof manifestSchema>
type ArchivePart = Manifest["files"][number]

interface Archive {
  /** The text of the manifest, unchanged. */
  readonly text: string
  readonly manifest: Manifest
}

const EXPORTS = "v1/tenant/exports"
const IMPORTS = "v1/tenant/imports"

const jobSchema = v.object({ id: v.string(), state: v.string(), from: v.optional(v.string()) })

/** Exports a tenant into the folder `--to`, which is named after the tenant by default. */
export async function exportTenant(
  options: ServerOptions & { readonly to?: string | undefined },
  tenant: string,
): Promise<[JsonObject, string]> {
  const folder = options.to ?? `${tenant}-archive`
  const begun = readManifestOf(folder)
  if (begun === null && existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`${folder} is not empty. Choose another folder with --to.`)
  if (begun !== null && begun.manifest.tenant !== tenant)
    throw new UsageError(`${folder} has an archive of ${begun.manifest.tenant}. Choose another folder with --to.`)
  return await withAccess(options, tenant, "export", async (access) => {
    const id = begun?.manifest.id ?? (await beginExport(access))
    const done = await followJob(() => access.request(`${EXPORTS}/${id}`), "exporting")
    const { manifest } = begun ?? (await downloadManifest(access, id, folder))
    for (const part of manifest.files) await downloadPart(access, id, folder, part, manifest.files.length)
    return [done, `Exported ${tenant} to ${folder}: ${formatTally(done)}. The server deletes its copy after 7 days.`]
  })
}

/** Returns the export that is running, or a new one. */
async function beginExport(access: TenantAccess): Promise<string> {
  const { exports } = await access.request(EXPORTS)
  const running = v.parse(v.array(jobSchema), exports).find(({ state }) => state === "running")
  return running?.id ?? v.parse(jobSchema, await access.request("v1/tenant/export", {})).id
}

/** Downloads the manifest before the parts, so that a repeated command knows which export the parts belong to. */
async function downloadManifest(access: TenantAccess, id: string, folder: string): Promise<Archive> {
  const text = new TextDecoder().decode(await access.download(`${EXPORTS}/${id}/files/0`))
  const manifest = parseManifest(text)
  if (manifest === null) throw new UsageError("The server's manifest can't be read.")
  mkdirSync(folder, { recursive: true })
  writeWholeFile(join(folder, MANIFEST_NAME), text)
  return { text, manifest }
}

async function downloadPart(
  access: TenantAccess,
  id: string,
  folder: string,
  { n, sha256 }: ArchivePart,
  of: number,
): Promise<void> {
  const path = join(folder, `${n}.cuecard`)
  if (existsSync(path) && hashBytes(readFileSync(path)) === sha256) return
  console.error(`downloading: part ${n} of ${of}`)
  const bytes = await access.download(`${EXPORTS}/${id}/files/${n}`)
  if (hashBytes(bytes) !== sha256) throw new UsageError(`Part ${n} was not received completely. Run the command again.`)
  writeWholeFile(path, bytes)
}

/** Imports the archive in the folder `--from`. The names of its parts don't matter. */
export async function importTenant(
  options: ServerOptions & { readonly from?: string | undefined },
  tenant: string,
): Promise<[JsonObject, string]> {
  const { from: folder } = options
  if (folder === undefined) throw new UsageError("Which archive? Add --from FOLDER.")
  const { text, manifest } = findManifest(folder)
  const pathsByNumber = findParts(folder, manifest)
  return await withAccess(options, tenant, "import", async (access) => {
    let job = await beginImport(access, text, manifest)
    while (job["state"] === "uploading") {
      const n = Number((job["missing"] as readonly number[])[0])
      const path = pathsByNumber.get(n)
      if (path === undefined) throw new UsageError(`Another archive is being imported into ${tenant}.`)
      console.error(`uploading: part ${n} of ${manifest.files.length}`)
      job = await access.upload(`${IMPORTS}/${job["id"]}/files/${n}`, readFileSync(path))
    }
    const done = await followJob(() => access.request(`${IMPORTS}/${job["id"]}`), "importing")
    const skipped = Number(done["skipped"])
    const lost = skipped === 0 ? "" : `\n${skipped} conversations could not be imported.`
    return [done, `Imported ${manifest.tenant} into ${tenant}: ${formatTally(done)}.${lost}`]
  })
}

/** Returns the import that is waiting for the parts of this archive, or a new one. */
async function beginImport(access: TenantAccess, text: string, { tenant }: Manifest): Promise<JsonObject> {
  const { imports } = await access.request(IMPORTS)
  const jobs = v.parse(v.array(jobSchema), imports)
  const unfinished = jobs.find(({ state, from }) => state === "uploading" && from === tenant)
  return unfinished === undefined
    ? await access.sendText("v1/tenant/import", text)
    : await access.request(`${IMPORTS}/${unfinished.id}`)
}

/** Finds the manifest by its content, because a browser saves it under a different name than `export` does. */
function findManifest(folder: string): Archive {
  const found =
    readManifestOf(folder) ??
    listFiles(folder, /\.json$|^0$/)
      .map(readArchive)
      .find((archive) => archive !== null)
  if (found === null || found === undefined) throw new UsageError(`${folder} has no manifest of an archive.`)
  return found
}

/** Returns the path of each part, recognised by its hash. */
function findParts(folder: string, { files }: Manifest): ReadonlyMap<number, string> {
  const sizes = new Set(files.map(({ bytes }) => bytes))
  const candidates = listFiles(folder).filter((path) => sizes.has(statSync(path).size))
  const pathsByHash = new Map(candidates.map((path) => [hashBytes(readFileSync(path)), path]))
  const missing = files.filter(({ sha256 }) => !pathsByHash.has(sha256)).map(({ n }) => n)
  if (missing.length > 0) throw new UsageError(`${folder} lacks ${missing.length} parts: ${missing.join(", ")}`)
  return new Map(files.map(({ n, sha256 }) => [n, pathsByHash.get(sha256) ?? ""]))
}

function listFiles(folder: string, pattern = /./): string[] {
  if (!existsSync(folder)) throw new UsageError(`There is no folder ${folder}.`)
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && pattern.test(entry.name)).map(({ name }) => join(folder, name))
}

function readManifestOf(folder: string): Archive | null {
  return readArchive(join(folder, MANIFEST_NAME))
}

function readArchive(path: string): Archive | null {
  if (!existsSync(path)) return null
  const text = readFileSync(path, "utf8")
  const manifest = parseManifest(text)
  return manifest === null ? null : { text, manifest }
}

function parseManifest(text: string): Manifest | null {
  const parsed = v.safeParse(manifestSchema, parseJson(text))
  return parsed.success ? parsed.output : null
}

function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}

/** Writes a file so that a killed command leaves no incomplete file under this name. */
function writeWholeFile(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.partial`, content)
  renameSync(`${path}.partial`, path)
}
