/** delivery-id.ts: the id that lets a tenant's service recognise a repeated call or question. */

import { computeShortHash } from "../platform/crypto/sha256-hex.ts"
import type { SessionRow } from "../store/row-codec.ts"

/**
 * Returns the same id for a call or question that is sent again, and a different id if the session was erased and
 * created again.
 */
export async function computeDeliveryId(
  { tenant, id, created }: Pick<SessionRow, "tenant" | "id" | "created">,
  callId: string,
  kind: "call" | "question" = "call",
): Promise<string> {
  return `${kind}_${await computeShortHash([tenant, id, created, callId].join("\0"))}`
}
