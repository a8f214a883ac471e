/**
 * streamed-session.ts: the session object's methods for external producers. Their code is loaded on the
 * first call.
 */

import type { Result } from "../../../shared/fault.ts"
import type { Claims } from "../../platform/rpc/claims.ts"
import type { RevocationState } from "../../platform/rpc/directory-rpc.ts"
import type * as Types from "../../platform/rpc/session-types.ts"
import { PortableSession } from "../portable-session.ts"
import type { ProducerIngress } from "./producer-ingress.ts"

export abstract class StreamedSession extends PortableSession {
  #ingress: Promise<ProducerIngress> | null = null

  async ingestRecords(
    claims: Claims,
    answerRef: Types.AnswerRef,
    body: ReadableStream<Uint8Array> | null,
  ): Promise<Result<Types.IngestResult>> {
    return await (await this.#openIngress()).ingestRecords(this.getLifecycle().current(), claims, answerRef, body)
  }

  async writeExternalAnswer(
    claims: Claims,
    answerRef: Types.AnswerRef,
    text: string,
  ): Promise<Result<Types.CompleteAnswerState>> {
    return (await this.#openIngress()).acceptCompleteAnswer(this.getLifecycle().current(), claims, answerRef, text)
  }

  async readExternalState(claims: Claims, id: string): Promise<Result<Types.ExternalState>> {
    return (await this.#openIngress()).readState(this.getLifecycle().current(), claims, id)
  }

  async acceptToolResult(result: Types.LateToolResult): Promise<Result<null>> {
    const { acceptToolResult } = await import("./late-results.ts")
    return await acceptToolResult(this.getLifecycle().current(), result)
  }

  /** Stops requests made with revoked tokens. If the code isn't loaded, no request is open. */
  protected stopProducers(revoked: RevocationState): void {
    void this.#ingress?.then((ingress) => ingress.stopRevoked(revoked))
  }

  #openIngress(): Promise<ProducerIngress> {
    this.#ingress ??= import("./producer-ingress.ts").then(({ ProducerIngress }) => new ProducerIngress(this.env))
    return this.#ingress
  }
}
