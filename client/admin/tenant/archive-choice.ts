/**
 * archive-choice.ts: finds the manifest and the parts of an archive among the files that the user chose.
 *
 * A part is recognised by its hash in the manifest, because downloaded files can have any name and can be chosen in any
 * order.
 */

import { isJsonObject, parseJson } from "../../../shared/json.ts"
import { MAX_BODY_BYTES } from "../../../shared/limits.ts"
import { createParser, hasShape, isListOf, isNumber, isString } from "../../../shared/protocol/shape-check.ts"
import { importsText } from "../../words/admin-text.ts"

/** Thrown if the chosen files are not an archive. The message is shown to the user. */
export class ArchiveChoiceError extends Error {}

export interface ArchivePart {
  readonly n: number
  readonly bytes: number
  readonly sha256: string
}

interface Manifest {
  readonly format: string
  readonly files: readonly ArchivePart[]
}

/** Parses a manifest. Here it only has to name the parts, because the server checks its seal. */
export const parseManifest = createParser<Manifest>({
  format: (value) => value === "cuecard-tenant",
  files: isListOf(hasShape<ArchivePart>({ n: isNumber, bytes: isNumber, sha256: isString })),
})

export interface Archive {
  /** The text of the manifest, unchanged. */
  readonly manifest: string
  /** The parts, by number. */
  readonly parts: ReadonlyMap<number, File>
}

/**
 * Finds the manifest and the parts. `onChecked` receives the number of bytes hashed so far, and the total. Throws
 * ArchiveChoiceError if the manifest or a part is missing, if there are several manifests, or if a file can't be read.
 * Cost: hashes each file that has the size of a part, with one file in memory at a time.
 */
export async function readArchive(
  files: readonly File[],
  onChecked: (checked: number, of: number) => void,
  signal: AbortSignal,
): Promise<Archive> {
  const { text, manifest } = await findManifest(files)
  const sizes = new Set(manifest.files.map(({ bytes }) => bytes))
  const candidates = files.filter(({ size }) => sizes.has(size))
  const of = candidates.reduce((sum, { size }) => sum + size, 0)
  const filesByHash = new Map<string, File>()
  let checked = 0
  for (const file of candidates) {
    signal.throwIfAborted()
    onChecked(checked, of)
    filesByHash.set(await hashBlob(file), file)
    checked += file.size
  }
  const parts = new Map<number, File>()
  const missing: number[] = []
  for (const { n, sha256 } of manifest.files) {
    const file = filesByHash.get(sha256)
    if (file === undefined) missing.push(n)
    else parts.set(n, file)
  }
  if (missing.length > 0) throw new ArchiveChoiceError(importsText.partsMissing(missing))
  return { manifest: text, parts }
}

async function findManifest(files: readonly File[]): Promise<{ readonly text: string; readonly manifest: Manifest }> {
  const found = new Map<string, Manifest>()
  for (const file of files) {
    if (file.size > MAX_BODY_BYTES) continue
    const text = await readOrRefuse(() => file.text())
    const json = parseJson(text)
    if (!isJsonObject(json) || json["format"] !== "cuecard-tenant") continue
    const manifest = parseManifest(json)
    if (manifest !== null) found.set(text, manifest)
  }
  if (found.size > 1) throw new ArchiveChoiceError(importsText.severalArchives)
  for (const [text, manifest] of found) return { text, manifest }
  throw new ArchiveChoiceError(importsText.manifestMissing)
}

/** Returns the SHA-256 in hexadecimal. Throws ArchiveChoiceError if a chosen file can't be read. */
export async function hashBlob(blob: Blob): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await readOrRefuse(() => blob.arrayBuffer()))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
}

/** Throws ArchiveChoiceError if the file can't be read, for example because it was moved after it was chosen. */
async function readOrRefuse<T>(readFile: () => Promise<T>): Promise<T> {
  try {
    return await readFile()
  } catch {
    throw new ArchiveChoiceError(importsText.unreadable)
  }
}
