/** platform.d.ts: as much of the platform's SQL interface as the store asks for, so that it can be run on node:sqlite. */

type SqlStorageValue = ArrayBuffer | string | number | null

interface SqlStorageCursor<Row> {
  toArray(): Row[]
  one(): Row
  [Symbol.iterator](): IterableIterator<Row>
  readonly rowsRead: number
  readonly rowsWritten: number
}

interface SqlStorage {
  exec<Row extends Record<string, SqlStorageValue>>(
    query: string,
    ...bindings: SqlStorageValue[]
  ): SqlStorageCursor<Row>
}
