/** log.ts: one structured line for the engineers who run it. */

export function log(event: string, detail: Record<string, unknown>): void {
  console.log(JSON.stringify({ event, ...detail }))
}
