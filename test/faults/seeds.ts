/** seeds.ts: seeds that once found something, by name; they are played before all others. */

export interface NamedSeed {
  readonly seed: number
  readonly name: string
}

export const NAMED_SEEDS: readonly NamedSeed[] = [
  { seed: 8, name: "a queued message is acknowledged again after its turn began" },
  { seed: 1016, name: "acknowledgements of one id cross on the socket and over HTTP" },
]
