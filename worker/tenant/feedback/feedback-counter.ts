/** feedback-counter.ts: the calls of the tenant object that count feedback. Source: SPEC WR13. */

import { DurableObject } from "cloudflare:workers"
import type { FeedbackCount } from "../../../shared/protocol/writing/feedback.ts"
import type { Env } from "../../env.ts"
import type { FeedbackChange } from "../../platform/rpc/session-types.ts"
import type { TenantHost } from "../tenant-host.ts"
import { FeedbackCounts } from "./feedback-counts.ts"

export abstract class FeedbackCounter extends DurableObject<Env> {
  protected abstract readonly host: TenantHost

  countFeedback(change: FeedbackChange): void {
    new FeedbackCounts(this.host).add(change)
  }

  listFeedbackCounts(): FeedbackCount[] {
    return new FeedbackCounts(this.host).list()
  }
}
