/**
 * administration.ts: the routes for tokens, and for tenants with their agents, settings, users, keys, issuers, budgets
 * and usage. Loaded on the first request to one of them.
 */

import { faultToResponse } from "../../platform/fault-response.ts"
import { errorToResponse } from "../access/report-request.ts"
import { auditRoutes } from "./audit-routes.ts"
import { receiveHandover } from "../hand-over.ts"
import { cardRoutes } from "./card-routes.ts"
import { issuerRoutes } from "./issuer-routes.ts"
import { readFeedbackCounts } from "./feedback-route.ts"
import { tenantDataRoutes } from "./tenant-data-routes.ts"
import type { AppEnv } from "../request-body.ts"
import { agentRoutes } from "../agent-routes.ts"
import { settingsRoutes } from "../settings-routes.ts"
import { devTokenRoutes, tokenRoutes } from "../token-routes.ts"
import { apiKeyRoutes } from "./api-key-routes.ts"
import { changeBudgets, listBudgets, readOwnBudgets } from "./budget-routes.ts"
import { mcpRoutes } from "./mcp-routes.ts"
import { modelRoutes } from "./model-routes.ts"
import { tenantRoutes } from "./tenant-routes.ts"
import { toolRoutes } from "./tool-routes.ts"
import { themeRoutes } from "./theme-routes.ts"
import { tokenKeyRoutes } from "./token-key-routes.ts"
import { listPrices, readUsage, setPrices } from "./usage-routes.ts"
import { userRoutes } from "./user-routes.ts"
import { createHono } from "../hono-app.ts"

export const administration = createHono<AppEnv>()
  .use("*", receiveHandover)
  .route("/v1/dev/token", devTokenRoutes)
  .route("/v1/tokens", tokenRoutes)
  .route("/v1/agents", agentRoutes)
  .route("/v1/settings", settingsRoutes)
  .route("/v1/theme", themeRoutes)
  .route("/v1/cards", cardRoutes)
  .route("/v1/models", modelRoutes)
  .route("/v1/tenants", tenantRoutes)
  .route("/v1/keys", apiKeyRoutes)
  .route("/v1/token-keys", tokenKeyRoutes)
  .route("/v1/users", userRoutes)
  .route("/v1/audit", auditRoutes)
  .get("/v1/budgets", listBudgets)
  .put("/v1/budgets", changeBudgets)
  .get("/v1/usage/me", readOwnBudgets)
  .get("/v1/feedback", readFeedbackCounts)
  .route("/v1/issuers", issuerRoutes)
  .route("/v1/mcp-servers", mcpRoutes)
  .route("/v1/tools", toolRoutes)
  .get("/v1/usage", readUsage)
  .get("/v1/prices", listPrices)
  .put("/v1/prices", setPrices)
  .route("/v1", tenantDataRoutes)

administration.notFound(() => faultToResponse({ reason: "route_unknown" }))
administration.onError(errorToResponse)
