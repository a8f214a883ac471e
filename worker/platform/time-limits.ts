/**
 * time-limits.ts: the time limits of a deployment, in milliseconds: those of shared/limits.ts, and shorter in tests.
 *
 * TIME_SCALE is a factor between 0 and 1 that shortens every wait alike, so that a test need not sit through a minute of
 * silence. A production deployment refuses it (SPEC AU3).
 */

import {
  AGENT_LATE_MS,
  AGENT_MS,
  AGENT_RETRY_MS,
  ALARM_MS,
  APPROVAL_MS,
  ASSET_PENDING_MS,
  IMPORT_ANSWER_MS,
  IMPORT_IDLE_MS,
  IMPORT_STAGED_MS,
  MAX_RETRY_AFTER_MS,
  MODEL_FIRST_BYTE_MS,
  MODEL_IDLE_MS,
  MODEL_RETRY_MS,
  PRODUCER_REFRESH_MS,
  PRODUCER_SILENCE_MS,
  PRODUCER_TURN_MS,
  REMOTE_FIRST_BYTE_MS,
  REMOTE_MS,
  TOOL_MS,
  TURN_MS,
  UPLOAD_MS,
} from "../../shared/limits.ts"

export interface TimesEnv {
  /** For tests: a factor between 0 and 1. */
  readonly TIME_SCALE?: string
}

export interface Times {
  readonly turnMs: number
  readonly toolMs: number
  readonly approvalMs: number
  readonly alarmMs: number
  readonly firstByteMs: number
  readonly idleMs: number
  readonly retryMs: number
  readonly maxRetryAfterMs: number
  readonly agentMs: number
  readonly agentLateMs: number
  readonly agentRetryMs: number
  readonly producerSilenceMs: number
  readonly producerRefreshMs: number
  readonly producerTurnMs: number
  readonly importStagedMs: number
  readonly importIdleMs: number
  readonly importAnswerMs: number
  readonly uploadMs: number
  readonly assetPendingMs: number
  readonly remoteFirstByteMs: number
  readonly remoteMs: number
}

/** A factor that is none counts as 1: the limits as they are. */
export function timesFor(env: TimesEnv): Times {
  const factor = Number(env.TIME_SCALE ?? 1)
  const scale = factor > 0 && factor <= 1 ? factor : 1
  const ms = (limit: number): number => Math.max(1, Math.round(limit * scale))
  return {
    turnMs: ms(TURN_MS),
    toolMs: ms(TOOL_MS),
    approvalMs: ms(APPROVAL_MS),
    alarmMs: ms(ALARM_MS),
    firstByteMs: ms(MODEL_FIRST_BYTE_MS),
    idleMs: ms(MODEL_IDLE_MS),
    retryMs: ms(MODEL_RETRY_MS),
    maxRetryAfterMs: ms(MAX_RETRY_AFTER_MS),
    agentMs: ms(AGENT_MS),
    agentLateMs: ms(AGENT_LATE_MS),
    agentRetryMs: ms(AGENT_RETRY_MS),
    producerSilenceMs: ms(PRODUCER_SILENCE_MS),
    producerRefreshMs: ms(PRODUCER_REFRESH_MS),
    producerTurnMs: ms(PRODUCER_TURN_MS),
    importStagedMs: ms(IMPORT_STAGED_MS),
    importIdleMs: ms(IMPORT_IDLE_MS),
    importAnswerMs: ms(IMPORT_ANSWER_MS),
    uploadMs: ms(UPLOAD_MS),
    assetPendingMs: ms(ASSET_PENDING_MS),
    remoteFirstByteMs: ms(REMOTE_FIRST_BYTE_MS),
    remoteMs: ms(REMOTE_MS),
  }
}
