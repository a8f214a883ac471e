/** require-storage.ts: middleware that refuses a body if the user has no storage left for it. */

import type { Context, MiddlewareHandler } from "hono"
import { type Result, succeed } from "../../../shared/fault.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { describeError, logError } from "../../platform/log.ts"
import { directoryStub } from "../../platform/rpc/object-stubs.ts"
import type { AppEnv } from "../request-body.ts"

/**
 * Used for imports and external producers, whose bytes are counted after they are stored. The bytes of uploads are
 * counted beforehand.
 *
 * Errors: `storage_full`, `budget_exhausted`.
 */
export const requireStorage: MiddlewareHandler<AppEnv> = async (context, next) => {
  const announced = Number(context.req.header("content-length") ?? 0)
  const more = Number.isSafeInteger(announced) && announced > 0 ? announced : 0
  const checked = await checkBytes(context, more)
  return checked.ok ? await next() : faultToResponse(checked.fault)
}

/** Checks the remaining storage. If the directory cannot be reached, the body is accepted. */
async function checkBytes(context: Context<AppEnv>, more: number): Promise<Result<null>> {
  try {
    return await directoryStub(context.env, context.get("claims")).checkBytes(more)
  } catch (error) {
    logError("bytes_not_checked", { error: describeError(error) })
    return succeed(null)
  }
}
