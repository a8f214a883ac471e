/**
 * library-routes.ts: the routes that list, search, organise, share and delete sessions and add files to them, and the
 * routes for external producers. Loaded on the first request to one of them.
 */

import { faultToResponse } from "../../platform/fault-response.ts"
import { errorToResponse } from "../access/report-request.ts"
import { receiveHandover } from "../hand-over.ts"
import type { AppEnv } from "../request-body.ts"
import { annotationRoutes } from "./annotation-routes.ts"
import { appRoutes } from "./app-routes.ts"
import { branchSession } from "./branch-route.ts"
import { folderRoutes } from "./folder-routes.ts"
import { organizingRoutes } from "./organizing-routes.ts"
import { listenerRoutes } from "./listener-routes.ts"
import { connectionRoutes } from "./connection-routes.ts"
import { promptRoutes } from "./prompt-routes.ts"
import { searchMessages, searchSessions } from "./search-routes.ts"
import { sessionListRoutes } from "./session-list-routes.ts"
import { transferRoutes } from "./transfer-routes.ts"
import { shareRoutes } from "./share-routes.ts"
import { viewerRoutes } from "./viewer-routes.ts"
import { requireSession } from "../access/require-session.ts"
import { requireStorage } from "../access/require-storage.ts"
import { externalRoutes } from "../external-routes.ts"
import { assetRoutes } from "../media/asset-routes.ts"
import { mediaSigningRoutes } from "../media/media-routes.ts"
import { externalTokenRoutes } from "../token-routes.ts"
import { readWindow } from "./history-route.ts"
import { createHono } from "../hono-app.ts"

export const library = createHono<AppEnv>()
  .use("*", receiveHandover)
  .get("/v1/search", searchSessions)
  .get("/v1/sessions/:id/search", requireSession, searchMessages)
  .get("/v1/sessions/:id/conversation", requireSession, readWindow)
  .post("/v1/sessions/:id/branch", requireSession, requireStorage, branchSession)
  .route("/v1/folders", folderRoutes)
  .route("/v1/prompts", promptRoutes)
  .route("/v1/connections", connectionRoutes)
  .route("/v1/sessions", sessionListRoutes)
  .route("/v1/sessions", transferRoutes)
  .route("/", shareRoutes)
  .route("/v1/sessions", viewerRoutes)
  .route("/v1/sessions", annotationRoutes)
  .route("/v1/sessions", appRoutes)
  .route("/v1/sessions", assetRoutes)
  .route("/v1/sessions", mediaSigningRoutes)
  .route("/v1/sessions", externalTokenRoutes)
  .route("/external/agents", listenerRoutes)
  .route("/external/sessions", externalRoutes)
  .route("/v1/sessions", organizingRoutes)

library.notFound(() => faultToResponse({ reason: "route_unknown" }))
library.onError(errorToResponse)
