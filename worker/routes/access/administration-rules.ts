/** administration-rules.ts: the callers that may use each route outside conversations. Loaded on demand. Pure. */

import { type AccessRule, ADMINISTRATORS, CONFIGURERS, READERS, type Principal, SESSION_RULES } from "./access-table.ts"

/** All API keys. */
const KEYS: readonly Principal[] = ["key-owner", "key-admin", "key-member", "key-viewer"]
/** Users and API keys that may move or erase the tenant. */
const OWNERS: readonly Principal[] = ["owner", "key-owner"]
/** Users and API keys that may manage users and API keys. */
const MANAGERS: readonly Principal[] = ["owner", "admin", "key-owner", "key-admin"]
/** Users, tokens and API keys that may read the tenant's settings. */
const MEMBERS_OF_TENANT: readonly Principal[] = [...READERS, "admin-scope", "key-owner", "key-admin"]

export const ADMINISTRATION_RULES: readonly AccessRule[] = [
  { method: "POST", path: "/v1/dev/token", allow: "open" },
  {
    method: "POST",
    path: "/v1/tokens/revoke",
    allow: [...READERS, "external", "admin-scope"],
    admitsRevoked: true,
    admitsLeaving: true,
  },

  { method: "POST", path: "/v1/tokens", allow: KEYS, admitsLeaving: true },

  { method: "POST", path: "/v1/tenants", allow: "operator" },
  { method: "GET", path: "/v1/tenants", allow: "operator" },
  { method: "POST", path: "/v1/tenants/:id/keys", allow: "operator" },
  { method: "GET", path: "/v1/tenants/:id/receipt", allow: "operator" },
  { method: "GET", path: "/v1/tenants/:id/issuers", allow: "operator" },
  { method: "DELETE", path: "/v1/tenants/:id/issuers/:name", allow: "operator" },

  { method: "GET", path: "/v1/keys", allow: MANAGERS },
  { method: "POST", path: "/v1/keys", allow: MANAGERS },
  { method: "DELETE", path: "/v1/keys/:id", allow: MANAGERS },
  { method: "POST", path: "/v1/keys/:id/rotate", allow: MANAGERS },
  { method: "GET", path: "/v1/token-keys", allow: OWNERS },
  { method: "POST", path: "/v1/token-keys/rotate", allow: OWNERS },

  { method: "GET", path: "/v1/models", allow: ADMINISTRATORS },
  { method: "PUT", path: "/v1/models/:name", allow: ADMINISTRATORS },
  { method: "DELETE", path: "/v1/models/:name", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/agents", allow: MEMBERS_OF_TENANT },
  { method: "PUT", path: "/v1/agents/:name", allow: CONFIGURERS },
  { method: "DELETE", path: "/v1/agents/:name", allow: CONFIGURERS },
  { method: "POST", path: "/v1/agents/:name/secret", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/settings", allow: MEMBERS_OF_TENANT },
  { method: "PUT", path: "/v1/settings", allow: CONFIGURERS },
  { method: "GET", path: "/v1/theme", allow: MEMBERS_OF_TENANT },
  { method: "PUT", path: "/v1/theme", allow: CONFIGURERS },
  { method: "DELETE", path: "/v1/theme", allow: CONFIGURERS },
  { method: "PUT", path: "/v1/theme/logo", allow: CONFIGURERS },
  { method: "DELETE", path: "/v1/theme/logo", allow: CONFIGURERS },

  { method: "GET", path: "/v1/cards", allow: CONFIGURERS },
  { method: "GET", path: "/v1/cards/:name", allow: CONFIGURERS },
  { method: "PUT", path: "/v1/cards/:name", allow: CONFIGURERS },
  { method: "DELETE", path: "/v1/cards/:name", allow: CONFIGURERS },

  { method: "GET", path: "/v1/users", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/users/:id", allow: ADMINISTRATORS },
  { method: "PATCH", path: "/v1/users/:id", allow: ADMINISTRATORS },
  { method: "POST", path: "/v1/users/:id/suspend", allow: ADMINISTRATORS },
  { method: "POST", path: "/v1/users/:id/restore", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/audit", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/audit/export", allow: ADMINISTRATORS },
  { method: "POST", path: "/v1/audit/verify", allow: ADMINISTRATORS },

  { method: "GET", path: "/v1/usage", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/prices", allow: ADMINISTRATORS },
  { method: "PUT", path: "/v1/prices", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/budgets", allow: ADMINISTRATORS },
  { method: "PUT", path: "/v1/budgets", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/usage/me", allow: READERS },
  { method: "GET", path: "/v1/feedback", allow: ADMINISTRATORS },

  { method: "GET", path: "/v1/issuers", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/issuers/:name", allow: ADMINISTRATORS },
  { method: "PUT", path: "/v1/issuers/:name", allow: ADMINISTRATORS },
  { method: "DELETE", path: "/v1/issuers/:name", allow: ADMINISTRATORS },

  { method: "GET", path: "/v1/mcp-servers", allow: ADMINISTRATORS },
  { method: "GET", path: "/v1/mcp-servers/:name", allow: ADMINISTRATORS },
  { method: "PUT", path: "/v1/mcp-servers/:name", allow: ADMINISTRATORS },
  { method: "DELETE", path: "/v1/mcp-servers/:name", allow: ADMINISTRATORS },
  { method: "POST", path: "/v1/mcp-servers/:name/refresh", allow: ADMINISTRATORS },
  { method: "POST", path: "/v1/mcp-servers/:name/review", allow: ADMINISTRATORS },

  { method: "GET", path: "/v1/tools", allow: ADMINISTRATORS },
  { method: "PUT", path: "/v1/tools/:name", allow: ADMINISTRATORS },
  { method: "DELETE", path: "/v1/tools/:name", allow: ADMINISTRATORS },
  { method: "POST", path: "/v1/tools/:name/secret", allow: ADMINISTRATORS },

  { method: "GET", path: "/v1/tenant", allow: MANAGERS },
  { method: "DELETE", path: "/v1/tenant", allow: OWNERS, admitsLeaving: true },
  { method: "POST", path: "/v1/tenant/restore", allow: OWNERS, admitsLeaving: true },
  { method: "POST", path: "/v1/tenant/export", allow: OWNERS, admitsLeaving: true },
  { method: "GET", path: "/v1/tenant/exports", allow: OWNERS },
  { method: "GET", path: "/v1/tenant/exports/:id", allow: OWNERS },
  { method: "DELETE", path: "/v1/tenant/exports/:id", allow: OWNERS, admitsLeaving: true },
  { method: "GET", path: "/v1/tenant/exports/:id/files/:n", allow: OWNERS },
  { method: "GET", path: "/v1/tenant/backups", allow: OWNERS },
  { method: "POST", path: "/v1/tenant/import", allow: OWNERS },
  { method: "GET", path: "/v1/tenant/imports", allow: OWNERS },
  { method: "GET", path: "/v1/tenant/imports/:id", allow: OWNERS },
  { method: "DELETE", path: "/v1/tenant/imports/:id", allow: OWNERS },
  { method: "PUT", path: "/v1/tenant/imports/:id/files/:n", allow: OWNERS },
  { method: "GET", path: "/v1/tenant/receipts", allow: MANAGERS },
  { method: "GET", path: "/v1/tenant/receipts/:id", allow: MANAGERS },
  { method: "DELETE", path: "/v1/users/:id", allow: MANAGERS },
]

/** Every route of the API. */
export const ACCESS_TABLE: readonly AccessRule[] = [...SESSION_RULES, ...ADMINISTRATION_RULES]
