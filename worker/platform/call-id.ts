/**
 * call-id.ts: creates and parses the ids of tool calls, which have the form `call_<message position>_<part>`.
 */

/** Returns the id of the call that is part `part` of the message at position `pos`. */
export function createCallId(pos: number, part: number): string {
  return `call_${pos}_${part}`
}

/** Returns the position of the message that contains a call; null if the id has another form. */
export function callIdToPos(callId: string): number | null {
  const pos = /^call_(\d{1,15})_/.exec(callId)?.[1]
  return pos === undefined ? null : Number(pos)
}
