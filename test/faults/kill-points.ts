/** kill-points.ts: the route and the log line that the suite and kill-points-worker.ts share. */

/** The suite posts `?n=3`, for example, to this route to have the process killed at the third point from then on. */
export const KILL_PATH = "/v1/kill-at"

/** The line that the Worker logs when it reaches the armed point. */
export const KILL_LINE = '{"event":"kill_point"}'
