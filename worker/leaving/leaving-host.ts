/**
 * leaving-host.ts: the interface through which the jobs use the tenant object that runs them.
 */

import type { Fault } from "../../shared/fault.ts"
import type { Env } from "../env.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import type { BudgetTable } from "../../shared/usage/budget-limits.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"
import type { Agent, TenantSettings } from "../settings/agent-config.ts"
import type { TenantUser } from "../settings/tenant-rpc.ts"
import type { CardVersion } from "../settings/cards/card-rpc.ts"
import type { ArchivedMcpServer } from "../settings/mcp-config.ts"
import type { StoredTheme } from "../settings/theme-rpc.ts"
import type { ArchivedWebhookTool } from "../settings/webhooks/webhook-tool.ts"
import type { Job, JobRows } from "./job-rows.ts"
import type { Tally } from "../../shared/protocol/http-body.ts"

/** The tenant's own configuration. A null agent is a default agent that the tenant has removed. */
export interface TenantConfig {
  readonly agents: readonly (readonly [name: string, agent: Agent | null])[]
  readonly settings: TenantSettings | null
  /** Absent in archives of earlier versions, and if the tenant has no prices of its own. */
  readonly prices?: readonly PriceEntry[]
  /** Absent in archives of earlier versions, and if the tenant has no budgets. */
  readonly budgets?: BudgetTable
  /** Absent in archives of earlier versions, and if the tenant has no MCP servers. */
  readonly mcpServers?: readonly ArchivedMcpServer[]
  /** Absent in archives of earlier versions, and if the tenant has no webhook tools. */
  readonly webhookTools?: readonly ArchivedWebhookTool[]
  /** Absent in archives of earlier versions, and if the tenant has no theme. */
  readonly theme?: StoredTheme
  /** Absent in archives of earlier versions, and if the tenant has no cards. */
  readonly cards?: readonly CardVersion[]
}

/** The rows of the tenant object that belong to other modules. */
export interface TenantContent {
  /** Returns users in the order of their ids, from the beginning or after an id. */
  listUsers(after: string | null, limit: number): TenantUser[]
  findUser(id: string): TenantUser | null
  /** Whether the user is the only active owner. */
  isLastOwner(user: TenantUser): boolean
  /** Adds a user of an imported tenant, unless the id already exists. */
  restoreUser(user: TenantUser): void
  /** Returns the number of bytes that all users store: files, and the databases of conversations. */
  countStoredBytes(): number
  markErasing(user: TenantUser): void
  /** Removes a user. `ledger`: the name of the user's usage ledger, if there is one. */
  removeUser(id: string, ledger: string | null): void
  readConfig(): TenantConfig
  writeConfig(config: TenantConfig): void
  /**
   * Releases the tenant's claims in the deployment's registry, so that other tenants can make the same claims. Can be
   * repeated.
   */
  releaseClaims(): Promise<void>
  /** Deletes all rows of the tenant object except its standing. */
  deleteAllRows(): void
  /** Adds a row to the audit log. */
  record(actor: Actor, action: string, target: string, details?: Readonly<Record<string, string | number>>): void
}

export interface LeavingHost {
  readonly env: Env
  readonly storage: DurableObjectStorage
  readonly rows: JobRows
  readonly content: TenantContent
  /**
   * Sets the alarm for the next due job. Called together with the write that adds the job, so that either both or
   * neither take effect.
   */
  readonly armAlarm: () => void
  readonly now: () => number
}

/** The result of a slice: the job is done, or it continues from `progress` at `due`. */
export type SliceResult =
  | { readonly isDone: true }
  | { readonly isDone: false; readonly progress: object; readonly tally: Tally; readonly due: number }

/** Thrown by a slice that would fail on every further attempt. */
export class LastingError extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

export type RunSlice = (host: LeavingHost, job: Job) => Promise<SliceResult>

export function addTally(tally: Tally, other: Partial<Tally>): Tally {
  return {
    users: tally.users + (other.users ?? 0),
    sessions: tally.sessions + (other.sessions ?? 0),
    agent_sessions: tally.agent_sessions + (other.agent_sessions ?? 0),
    files: tally.files + (other.files ?? 0),
    bytes: tally.bytes + (other.bytes ?? 0),
  }
}
