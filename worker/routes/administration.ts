/** administration.ts: the routes that manage tenants, their users, keys and issuers. */

import { Hono } from "hono"
import { auditRoutes } from "./audit-routes.ts"
import { issuerRoutes } from "./issuer-routes.ts"
import { leavingRoutes } from "./leaving-routes.ts"
import type { AppEnv } from "./request-body.ts"
import { apiKeyRoutes } from "./tenants/api-key-routes.ts"
import { budgetRoutes, readOwnBudgets } from "./tenants/budget-routes.ts"
import { tenantRoutes } from "./tenants/tenant-routes.ts"
import { tokenKeyRoutes } from "./tenants/token-key-routes.ts"
import { userRoutes } from "./user-routes.ts"

export const administration = new Hono<AppEnv>()
  .route("/v1/tenants", tenantRoutes)
  .route("/v1/keys", apiKeyRoutes)
  .route("/v1/token-keys", tokenKeyRoutes)
  .route("/v1/users", userRoutes)
  .route("/v1/audit", auditRoutes)
  .route("/v1/budgets", budgetRoutes)
  .get("/v1/usage/me", readOwnBudgets)
  .route("/v1/issuers", issuerRoutes)
  .route("/v1", leavingRoutes)
