/** kill-points.ts: what the suite and kill-points-worker.ts agree on. */

/** `POST` with `?n=`: the process is killed at the n-th point from now on. */
export const KILL_PATH = "/v1/kill-at"

/** The line that the Worker logs when it has arrived there. */
export const KILL_LINE = '{"event":"kill_point"}'
