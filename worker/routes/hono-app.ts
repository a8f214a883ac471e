/**
 * hono-app.ts: creates Hono apps with a single router.
 *
 * Hono's own class bundles three routers, and chooses one of them on the first request. All of them match the same
 * paths. The router used here compiles nothing, so the first request to an isolate waits less.
 */

import type { Env } from "hono"
import { HonoBase } from "hono/hono-base"
import { TrieRouter } from "hono/router/trie-router"

export function createHono<E extends Env>(): HonoBase<E> {
  return new HonoBase<E>({ router: new TrieRouter() })
}
