/** delivery-id.ts: the id by which a tenant's service recognises a call or a question. */

import { bytesToHex } from "../platform/crypto/hex.ts"
import type { SessionRow } from "../store/row-codec.ts"

/** The same for a call or question that is sent again, and another one if the session was erased and created again. */
export async function computeDeliveryId(
  { tenant, id, created }: Pick<SessionRow, "tenant" | "id" | "created">,
  callId: string,
  kind: "call" | "question" = "call",
): Promise<string> {
  const parts = new TextEncoder().encode([tenant, id, String(created), callId].join("\0"))
  return `${kind}_${bytesToHex((await crypto.subtle.digest("SHA-256", parts)).slice(0, 16))}`
}
