/** kill-points.ts: the route and the log line that the suite and kill-points-worker.ts share. */

/** The route to which the suite posts `?n=`, so that the process is killed at the n-th point from now. */
export const KILL_PATH = "/v1/kill-at"

/** The line that the Worker logs when it reaches the armed point. */
export const KILL_LINE = '{"event":"kill_point"}'
