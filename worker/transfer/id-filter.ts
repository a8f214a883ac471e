/**
 * id-filter.ts: remembers which ids were folded, in a fixed amount of memory (a Bloom filter).
 *
 * Nearly every id of a file is new. Querying the database for each id would create more garbage than the rest of the
 * folding, and the object would grow by tens of megabytes.
 */

/** Number of bits. With MAX_IMPORT_RECORDS ids, one new id in thirty has to be looked up. */
const BITS = 2 ** 22

const FIRST_SEED = 0x811c9dc5
const SECOND_SEED = 0x9e3779b9
const PRIME = 0x01000193
/** Number of bits that an id sets. */
const HASHES = 3

export class IdFilter {
  readonly #words = new Uint32Array(BITS / 32)

  add(id: string): void {
    for (const bit of listBits(id)) {
      const word = bit >>> 5
      this.#words[word] = (this.#words[word] ?? 0) | (1 << (bit & 31))
    }
  }

  /**
   * Returns true if the id was added, and sometimes also if it was not. Returns false only if the id was never added.
   */
  mayHave(id: string): boolean {
    return listBits(id).every((bit) => ((this.#words[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0)
  }
}

function listBits(id: string): number[] {
  const [first, second] = [hashId(id, FIRST_SEED), hashId(id, SECOND_SEED)]
  return Array.from({ length: HASHES }, (_, i) => ((first + i * second) >>> 0) % BITS)
}

/**
 * Hashes an id with FNV-1a over its UTF-16 code units, and mixes the bits afterwards, because the ids of a file differ
 * only in a few digits.
 */
function hashId(id: string, seed: number): number {
  let value = seed
  for (let i = 0; i < id.length; i++) value = Math.imul(value ^ id.charCodeAt(i), PRIME)
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return (value ^ (value >>> 13)) >>> 0
}
