/**
 * platform.d.ts: the part of the platform's SQL interface that the store uses. With it, the store can run on
 * node:sqlite.
 */

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
