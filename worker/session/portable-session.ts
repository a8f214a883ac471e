/**
 * portable-session.ts: the session object's calls for reading its messages, for counting a user's sockets, and for the
 * export, import and erasure of a whole tenant.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { OwnerClaims, SessionOwner } from "../platform/rpc/claims.ts"
import type { SessionShare } from "../../shared/protocol/http-body.ts"
import type { FoundMessages, MessageQuery, SearchUpdate } from "../platform/rpc/search-types.ts"
import type { AssetEntry, PageQuery, PageText, ShareRequest, StoredSession } from "../platform/rpc/session-types.ts"
import { readPage } from "../socket/history-pages.ts"
import type { LiveSession } from "./live-session.ts"
import { readStoredSession } from "../store/stored-session.ts"
import type { CopyHost } from "../shared-copy/write-copy.ts"
import { AnnotatedSession } from "./annotations/annotated-session.ts"

export abstract class PortableSession extends AnnotatedSession {
  async readHistoryPage(claims: OwnerClaims, query: PageQuery): Promise<Result<PageText>> {
    return await this.#withReadable(claims, async ({ store, row, epoch, lastSeq: seq }) => {
      const head = { epoch, seq, isTemporary: row.erasesAt !== null }
      if (query.around === undefined && query.after === undefined) return succeed(readPage(store, head, query))
      const { readWindow } = await import("../socket/history-window.ts")
      const page = readWindow(store, head, query)
      return page === null ? fail({ reason: "message_unknown" }) : succeed(page)
    })
  }

  async searchMessages(claims: OwnerClaims, query: MessageQuery): Promise<Result<FoundMessages>> {
    return await this.#withReadable(claims, async ({ store }) => {
      const { searchMessages } = await import("../search/message-search.ts")
      const found = searchMessages(store, query)
      return found === null ? fail({ reason: "field_invalid", field: "q" }) : succeed(found)
    })
  }

  async createShare(claims: OwnerClaims, request: ShareRequest): Promise<Result<SessionShare>> {
    return await this.#withShares(claims, ({ createShare }, host) => createShare(host, request))
  }

  async listShares(claims: OwnerClaims): Promise<Result<readonly SessionShare[]>> {
    return await this.#withShares(claims, async (_, { rows, now }) => succeed(rows.list(now())))
  }

  async deleteShare(claims: OwnerClaims, id: string): Promise<Result<null>> {
    return await this.#withShares(claims, async ({ deleteShare }, host) => {
      await deleteShare(host, id)
      return succeed(null)
    })
  }

  setHidden(owner: SessionOwner, isHidden: boolean): Result<null> {
    return this.getLifecycle().setHidden(owner, isHidden)
  }

  async readTurnTexts(owner: SessionOwner, after: number): Promise<Result<SearchUpdate>> {
    const { readTurnTexts } = await import("../search/turn-texts.ts")
    return this.#withOwn(owner, ({ store }) => succeed(readTurnTexts(store, { after })))
  }

  describe(owner: SessionOwner): Result<StoredSession> {
    return this.#withOwn(owner, ({ store, row }) => succeed(readStoredSession(store, row)))
  }

  listAssetEntries(owner: SessionOwner, after: string | null, limit: number): Result<readonly AssetEntry[]> {
    return this.#withOwn(owner, ({ assets }) => succeed(assets.listAfter(after, limit)))
  }

  async restoreSession(owner: SessionOwner, stored: StoredSession): Promise<Result<null>> {
    return await this.getLifecycle().restore(owner, stored)
  }

  reserveRestored(owner: SessionOwner, { asset, origin }: AssetEntry): Result<boolean> {
    return this.#withOwn(owner, ({ assets, assetService }) => {
      if (assets.find(asset.id) !== null) return succeed(false)
      const capacity = assets.checkCapacity(asset.size)
      if (!capacity.ok) return capacity
      if (!assets.renewReservation(asset.id, origin, Date.now(), asset.size))
        return fail({ reason: "asset_store_failed" })
      assetService.armSweep()
      return succeed(true)
    })
  }

  commitRestored(owner: SessionOwner, { asset, hash }: AssetEntry): Result<null> {
    return this.#withOwn(owner, ({ assets, assetService }) => {
      const isComplete = assets.find(asset.id) !== null || assets.commit(asset, hash)
      assetService.reportBytes()
      return isComplete ? succeed(null) : fail({ reason: "asset_store_failed" })
    })
  }

  closeSockets(): void {
    this.getLifecycle().sockets.closeAll({ reason: "tenant_leaving" })
  }

  countSockets(user: string): number {
    return this.getLifecycle().sockets.countOpen(user)
  }

  #withOwn<T>(owner: SessionOwner, run: (session: LiveSession) => Result<T>): Result<T> {
    const session = this.getLifecycle().findOwn(owner)
    return session === null ? fail({ reason: "session_unknown" }) : run(session)
  }

  async #withShares<T>(
    owner: OwnerClaims,
    run: (copies: typeof import("../shared-copy/write-copy.ts"), host: CopyHost) => Promise<Result<T>>,
  ): Promise<Result<T>> {
    const copies = await import("../shared-copy/write-copy.ts")
    const session = this.getLifecycle().find(owner)
    return session === null
      ? fail({ reason: "session_unknown" })
      : await run(copies, this.getLifecycle().createCopyHost(session))
  }

  async #withReadable<T>(claims: OwnerClaims, run: (session: LiveSession) => Promise<Result<T>>): Promise<Result<T>> {
    const session = this.getLifecycle().findReadable(claims)
    return session === null ? fail({ reason: "session_unknown" }) : await run(session)
  }
}
