/**
 * index.ts: the Worker: mounts the routes and the objects, and nothing else.
 */

import { Hono } from "hono"
import { type App, answerFault } from "./routes/answer.ts"
import { devToken } from "./routes/dev-token.ts"
import { checkOrigin, requireClaims, requireSafeDeployment, secureHeaders } from "./routes/guard.ts"
import { health } from "./routes/health.ts"
import { sessions } from "./routes/sessions.ts"

export { Session } from "./session/object.ts"
export { Directory } from "./tenant/directory.ts"

const app = new Hono<App>()

app.use("*", secureHeaders, requireSafeDeployment)
app.route("/healthz", health)
app.use("/v1/*", checkOrigin)
app.route("/v1/dev/token", devToken)
app.use("/v1/*", requireClaims)
app.route("/v1/sessions", sessions)
app.notFound(() => answerFault({ reason: "route_unknown" }))
app.onError((error) => {
  console.error(JSON.stringify({ event: "route_error", message: error.message }))
  return answerFault({ reason: "internal" })
})

export default app
