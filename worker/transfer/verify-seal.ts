/** verify-seal.ts: verifies the seal of a staged file, and computes the digest that identifies the file. */

import { parseJsonToDepth } from "../../shared/json-depth.ts"
import { parseRecord } from "../../shared/protocol/record.ts"
import { toTitle } from "../../shared/text/title.ts"
import { createRecordDigest, createSeal, recordToSealedLine } from "./export-seal.ts"
import type { StagedFile } from "./import-state.ts"
import type { StagedRow, StagedRows } from "./staged-rows.ts"
import { createYielder, FOLD_YIELD_BATCHES } from "./yielder.ts"

/**
 * Reads the tip and title from the signature record of a file, and checks that the tenant's seal covers the whole file
 * (SPEC RE4, RE8).
 *
 * Cost: one row for a file without a seal. Otherwise linear time, and memory for one batch.
 */
export async function verifySeal(
  staging: StagedRows,
  staged: StagedFile,
  getKey: () => Promise<CryptoKey>,
): Promise<StagedFile> {
  const last = staging.readLastRow()
  const json = last === null ? undefined : parseJsonToDepth(last.line)
  const signature = parseRecord(json)
  if (last === null || !signature.ok || signature.value.type !== "signature") return { ...staged, isSealed: false }
  const { tip, value, title } = signature.value
  const described = {
    ...staged,
    // Without positions in the file, its tip refers to nothing.
    tip: staged.isPlaced ? tip : null,
    title: toTitle(title),
  }
  if (staged.skipped > 0) return { ...described, isSealed: false }
  const { value: _, ...head } = json as { readonly value?: unknown }
  const seal = createSeal()
  await forEachBatch(staging, (rows) => seal.add(rows.filter(({ n }) => n < last.n).map(({ line }) => line)))
  seal.add([recordToSealedLine(head)])
  return { ...described, isSealed: await seal.verify(await getKey(), value) }
}

/** Computes the digest that identifies a file uploaded in parts. Cost: linear time, and memory for one batch. */
export async function computeFileSource(staging: StagedRows): Promise<string> {
  const digest = createRecordDigest()
  await forEachBatch(staging, (rows) => digest.add(rows.map(({ line }) => line)))
  return await digest.finishAsSourceId()
}

async function forEachBatch(staging: StagedRows, handle: (rows: readonly StagedRow[]) => void): Promise<void> {
  const yieldIfDue = createYielder(FOLD_YIELD_BATCHES)
  for (const batch of staging.readFileBatches()) {
    handle(batch)
    await yieldIfDue()
  }
}
