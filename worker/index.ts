/**
 * index.ts: the Worker: mounts the routes and the objects, and nothing else.
 */

import { Hono } from "hono"
import { agents } from "./routes/agent-routes.ts"
import { type App, answerError, answerFault } from "./platform/fault-response.ts"
import { devToken } from "./routes/dev-token-routes.ts"
import { canvas, keepCanvasApart } from "./routes/canvas-routes.ts"
import { checkOrigin, requireSafeDeployment, secureHeaders } from "./routes/request-guard.ts"
import { external } from "./routes/external-routes.ts"
import { health } from "./routes/health-routes.ts"
import { media } from "./routes/media-routes.ts"
import { page } from "./routes/page-routes.ts"
import { remote } from "./routes/remote-media-routes.ts"
import { sessions } from "./routes/session-routes.ts"
import { settings } from "./routes/settings-routes.ts"
import { tokens } from "./routes/token-routes.ts"

export { Session } from "./session/session-object.ts"
export { Directory } from "./auth/user-directory.ts"
export { Tenant } from "./tenant/tenant-object.ts"

const app = new Hono<App>()

app.use("*", secureHeaders, requireSafeDeployment, keepCanvasApart)
app.use("/v1/*", checkOrigin)
app.use("/external/*", checkOrigin)
app.route("/healthz", health)
app.route("/v1/dev/token", devToken)
app.route("/v1/tokens", tokens)
app.route("/v1/agents", agents)
app.route("/v1/settings", settings)
app.route("/v1/sessions", sessions)
app.route("/external/sessions", external)
app.route("/media", media)
app.route("/canvas/documents", canvas)
app.route("/media/remote", remote)
for (const path of ["/v1/*", "/external/*", "/media/*", "/canvas/*"]) {
  app.all(path, () => answerFault({ reason: "route_unknown" }))
}
app.route("/", page)
app.notFound(() => answerFault({ reason: "route_unknown" }))
app.onError(answerError)

export default app
