/**
 * index.ts: the Worker's entry point. It mounts the routes and exports the Durable Object classes.
 */

import { faultToResponse } from "./platform/fault-response.ts"
import { authorize } from "./routes/access/authorize.ts"
import { admitWidgetMedia } from "./routes/access/embed-access.ts"
import { handOver } from "./routes/hand-over.ts"
import { healthRoutes } from "./routes/health-routes.ts"
import type { AppEnv } from "./routes/request-body.ts"
import { explainRefusedSocket } from "./routes/access/refuse-socket.ts"
import {
  checkOrigin,
  isolateCanvasOrigin,
  requireSafeDeployment,
  setSecureHeaders,
} from "./routes/access/request-guard.ts"
import type { Env } from "./env.ts"
import { errorToResponse, reportRequest } from "./routes/access/report-request.ts"
import { sessionRoutes } from "./routes/session-routes.ts"
import { createHono } from "./routes/hono-app.ts"

export { Session } from "./session/session-object.ts"
export { Directory } from "./directory/directory-object.ts"
export { Registry } from "./tenant/registry-object.ts"
export { Tenant } from "./tenant/tenant-object.ts"

const app = createHono<AppEnv>()

app.use("*", reportRequest, setSecureHeaders, requireSafeDeployment, isolateCanvasOrigin)
app.use("/v1/sessions/:id/socket", explainRefusedSocket)
app.use("/v1/*", checkOrigin, authorize)
app.use("/external/*", checkOrigin, authorize)
app.route("/healthz", healthRoutes)
// Loaded on demand, like the rest of the sign-in code.
app.all("/auth/*", async ({ req, env, executionCtx }) => {
  const { signInRoutes } = await import("./routes/sign-in-routes.ts")
  return await signInRoutes.fetch(req.raw, env, executionCtx)
})
app.route("/v1/sessions", sessionRoutes)
// The other routes of sessions and of external producers, which are loaded on demand.
for (const path of [
  "/v1/sessions/*",
  "/external/agents/*",
  "/external/sessions/*",
  "/v1/search",
  "/v1/folders/*",
  "/v1/prompts/*",
  "/v1/connections/*",
  "/v1/shares",
]) {
  app.all(path, async (context) => {
    const { library } = await import("./routes/library/library-routes.ts")
    return await handOver(context, library)
  })
}
app.all("/v1/shares/*", async (context) => {
  const { publicShareRoutes } = await import("./routes/public-share-routes.ts")
  return await handOver(context, publicShareRoutes)
})
// Tenants' services send late tool results here. The signature of a request is its only authentication.
app.post("/tool-results/:tenant/:session/:tool/:call", async (context) => {
  const { receiveToolResult } = await import("./routes/tool-result-route.ts")
  return await receiveToolResult(context)
})
app.use("/media/*", admitWidgetMedia)
app.all("/canvas/documents/*", async ({ req, env }) => {
  const { canvasRoutes } = await import("./routes/media/canvas-routes.ts")
  return await canvasRoutes.fetch(req.raw, env)
})
// Loaded on the first request, because most isolates never serve remote media.
app.get("/media/remote", async (context) => {
  const { serveRemoteMedia } = await import("./routes/media/remote-media-routes.ts")
  return await serveRemoteMedia(context)
})
app.get("/media/logo/:tenant/:file", async (context) => {
  const { serveLogo } = await import("./routes/media/logo-route.ts")
  return await serveLogo(context)
})
app.get("/media/card/:tenant/:file", async (context) => {
  const { serveCardView } = await import("./routes/media/card-view-route.ts")
  return await serveCardView(context)
})
// Registered after the other /media routes, because this pattern matches their paths too.
app.get("/media/:id", async ({ req, env }) => {
  const { mediaRoutes } = await import("./routes/media/media-routes.ts")
  return await mediaRoutes.fetch(req.raw, env)
})
// Registered last, because these paths have no common prefix. `authorize` has already refused every unknown path.
app.all("/v1/*", async (context) => {
  const { administration } = await import("./routes/tenants/administration.ts")
  return await handOver(context, administration)
})
for (const path of ["/external/*", "/media/*", "/canvas/*"]) {
  app.all(path, () => faultToResponse({ reason: "route_unknown" }))
}
// Loaded on the first request for a page. Most isolates serve only the API, and the hashed files need no Worker.
app.get("*", async (context) => {
  const { pageRoutes } = await import("./routes/page-routes.ts")
  return await handOver(context, pageRoutes)
})
app.notFound(() => faultToResponse({ reason: "route_unknown" }))
app.onError(errorToResponse)

/** Handles the cron trigger for scheduled backups. Without the trigger, a deployment makes no backups. */
async function scheduled({ scheduledTime }: ScheduledController, env: Env): Promise<void> {
  const { runBackupTick } = await import("./backup/backup-tick.ts")
  await runBackupTick(env, scheduledTime)
}

export default Object.assign(app, { scheduled })
