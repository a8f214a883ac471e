/**
 * index.ts: the entry of the Worker: mounts the routes and exports the Durable Object classes.
 */

import { Hono } from "hono"
import { errorToResponse, faultToResponse } from "./platform/fault-response.ts"
import { agentRoutes } from "./routes/agent-routes.ts"
import { auditRoutes } from "./routes/audit-routes.ts"
import { authorize } from "./routes/access/authorize.ts"
import { canvasRoutes, isolateCanvasOrigin } from "./routes/media/canvas-routes.ts"
import { externalRoutes } from "./routes/external-routes.ts"
import { healthRoutes } from "./routes/health-routes.ts"
import { issuerRoutes } from "./routes/issuer-routes.ts"
import { mediaRoutes } from "./routes/media/media-routes.ts"
import { pageRoutes } from "./routes/page-routes.ts"
import { remoteMediaRoutes } from "./routes/media/remote-media-routes.ts"
import type { AppEnv } from "./routes/request-body.ts"
import { checkOrigin, requireSafeDeployment, setSecureHeaders } from "./routes/access/request-guard.ts"
import { sessionRoutes } from "./routes/session-routes.ts"
import { settingsRoutes } from "./routes/settings-routes.ts"
import { apiKeyRoutes } from "./routes/tenants/api-key-routes.ts"
import { tenantRoutes } from "./routes/tenants/tenant-routes.ts"
import { tokenKeyRoutes } from "./routes/tenants/token-key-routes.ts"
import { devTokenRoutes, tokenRoutes } from "./routes/token-routes.ts"
import { userRoutes } from "./routes/user-routes.ts"

export { Session } from "./session/session-object.ts"
export { Directory } from "./auth/user-directory.ts"
export { Registry } from "./tenant/registry-object.ts"
export { Tenant } from "./tenant/tenant-object.ts"

const app = new Hono<AppEnv>()

app.use("*", setSecureHeaders, requireSafeDeployment, isolateCanvasOrigin)
app.use("/v1/*", checkOrigin, authorize)
app.use("/external/*", checkOrigin, authorize)
app.route("/healthz", healthRoutes)
app.route("/v1/dev/token", devTokenRoutes)
app.route("/v1/tokens", tokenRoutes)
app.route("/v1/tenants", tenantRoutes)
app.route("/v1/keys", apiKeyRoutes)
app.route("/v1/token-keys", tokenKeyRoutes)
app.route("/v1/agents", agentRoutes)
app.route("/v1/settings", settingsRoutes)
app.route("/v1/users", userRoutes)
app.route("/v1/audit", auditRoutes)
app.route("/v1/issuers", issuerRoutes)
// Loaded on demand, as all of the sign-in is.
app.all("/auth/*", async ({ req, env, executionCtx }) => {
  const { signInRoutes } = await import("./routes/sign-in-routes.ts")
  return await signInRoutes.fetch(req.raw, env, executionCtx)
})
app.route("/v1/sessions", sessionRoutes)
app.route("/external/sessions", externalRoutes)
app.route("/media", mediaRoutes)
app.route("/canvas/documents", canvasRoutes)
app.route("/media/remote", remoteMediaRoutes)
for (const path of ["/v1/*", "/external/*", "/media/*", "/canvas/*"]) {
  app.all(path, () => faultToResponse({ reason: "route_unknown" }))
}
app.route("/", pageRoutes)
app.notFound(() => faultToResponse({ reason: "route_unknown" }))
app.onError(errorToResponse)

export default app
