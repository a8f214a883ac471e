/**
 * time-limits.ts: the time limits of a deployment, in milliseconds. They come from shared/limits.ts and
 * shared/asset-limits.ts, and are scaled down in tests.
 *
 * TIME_SCALE is a factor between 0 and 1 for all limits, so that tests do not have to wait for real timeouts. A
 * production deployment rejects it (SPEC AU3).
 */

import {
  ASSET_PENDING_MS,
  REFUSED_UPLOAD_MS,
  REMOTE_FIRST_BYTE_MS,
  REMOTE_MS,
  MAX_UPLOAD_MS,
} from "../../shared/asset-limits.ts"
import {
  AGENT_CALLBACK_MS,
  AGENT_ANSWER_MS,
  AGENT_RETRY_MS,
  TURN_ALARM_MS,
  APPROVAL_MS,
  BODY_MS,
  HELLO_MS,
  IMPORT_RESPONSE_MS,
  IMPORT_IDLE_MS,
  IMPORT_TOTAL_MS,
  IMPORT_UPLOAD_MS,
  IMPORT_STAGING_MS,
  ISSUER_KEYS_COOLDOWN_MS,
  ISSUER_KEYS_FRESH_MS,
  ISSUER_KEYS_TRUST_MS,
  MAX_ISSUER_KEYS_AGE_MS,
  MAX_RETRY_AFTER_MS,
  MODEL_FIRST_BYTE_MS,
  MODEL_IDLE_MS,
  MODEL_RETRY_MS,
  PRODUCER_REFRESH_MS,
  PRODUCER_SILENCE_MS,
  PRODUCER_TURN_MS,
  PROVIDER_MS,
  TOOL_MS,
  TURN_MS,
  UNKNOWN_KEY_MS,
  USAGE_RETRY_MS,
  USAGE_SPREAD_MS,
  USAGE_WAIT_MS,
} from "../../shared/limits.ts"

export interface TimeLimitsEnv {
  /** For tests: a factor between 0 and 1. */
  readonly TIME_SCALE?: string
}

export interface TimeLimits {
  readonly turnMs: number
  readonly toolMs: number
  readonly approvalMs: number
  readonly alarmMs: number
  readonly firstByteMs: number
  readonly idleMs: number
  readonly retryMs: number
  readonly maxRetryAfterMs: number
  readonly agentAnswerMs: number
  readonly agentCallbackMs: number
  readonly agentRetryMs: number
  readonly producerSilenceMs: number
  readonly producerRefreshMs: number
  readonly producerTurnMs: number
  readonly importStagingMs: number
  readonly importIdleMs: number
  readonly importUploadMs: number
  readonly importTotalMs: number
  readonly importResponseMs: number
  readonly uploadMs: number
  readonly refusedUploadMs: number
  readonly bodyMs: number
  readonly helloMs: number
  readonly assetPendingMs: number
  readonly remoteFirstByteMs: number
  readonly remoteMs: number
  readonly providerMs: number
  readonly keysCooldownMs: number
  readonly keysFreshMs: number
  readonly keysTrustMs: number
  readonly keysMaxAgeMs: number
  readonly unknownKeyMs: number
  readonly usageWaitMs: number
  readonly usageRetryMs: number
  readonly usageSpreadMs: number
}

/** Reads the time limits. An invalid factor is treated as 1. */
export function readTimeLimits(env: TimeLimitsEnv): TimeLimits {
  const factor = Number(env.TIME_SCALE ?? 1)
  const scale = factor > 0 && factor <= 1 ? factor : 1
  const scaleMs = (limit: number): number => Math.max(1, Math.round(limit * scale))
  return {
    turnMs: scaleMs(TURN_MS),
    toolMs: scaleMs(TOOL_MS),
    approvalMs: scaleMs(APPROVAL_MS),
    alarmMs: scaleMs(TURN_ALARM_MS),
    firstByteMs: scaleMs(MODEL_FIRST_BYTE_MS),
    idleMs: scaleMs(MODEL_IDLE_MS),
    retryMs: scaleMs(MODEL_RETRY_MS),
    maxRetryAfterMs: scaleMs(MAX_RETRY_AFTER_MS),
    agentAnswerMs: scaleMs(AGENT_ANSWER_MS),
    agentCallbackMs: scaleMs(AGENT_CALLBACK_MS),
    agentRetryMs: scaleMs(AGENT_RETRY_MS),
    producerSilenceMs: scaleMs(PRODUCER_SILENCE_MS),
    producerRefreshMs: scaleMs(PRODUCER_REFRESH_MS),
    producerTurnMs: scaleMs(PRODUCER_TURN_MS),
    importStagingMs: scaleMs(IMPORT_STAGING_MS),
    importIdleMs: scaleMs(IMPORT_IDLE_MS),
    importUploadMs: scaleMs(IMPORT_UPLOAD_MS),
    importTotalMs: scaleMs(IMPORT_TOTAL_MS),
    importResponseMs: scaleMs(IMPORT_RESPONSE_MS),
    uploadMs: scaleMs(MAX_UPLOAD_MS),
    refusedUploadMs: scaleMs(REFUSED_UPLOAD_MS),
    bodyMs: scaleMs(BODY_MS),
    helloMs: scaleMs(HELLO_MS),
    assetPendingMs: scaleMs(ASSET_PENDING_MS),
    remoteFirstByteMs: scaleMs(REMOTE_FIRST_BYTE_MS),
    remoteMs: scaleMs(REMOTE_MS),
    providerMs: scaleMs(PROVIDER_MS),
    keysCooldownMs: scaleMs(ISSUER_KEYS_COOLDOWN_MS),
    keysFreshMs: scaleMs(ISSUER_KEYS_FRESH_MS),
    keysTrustMs: scaleMs(ISSUER_KEYS_TRUST_MS),
    keysMaxAgeMs: scaleMs(MAX_ISSUER_KEYS_AGE_MS),
    unknownKeyMs: scaleMs(UNKNOWN_KEY_MS),
    usageWaitMs: scaleMs(USAGE_WAIT_MS),
    usageRetryMs: scaleMs(USAGE_RETRY_MS),
    usageSpreadMs: scaleMs(USAGE_SPREAD_MS),
  }
}
