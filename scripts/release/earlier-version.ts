/**
 * earlier-version.ts: finds the version for a rollback, and gives it all of the traffic.
 */

import { type Deployment, type PlatformApi, PlatformError } from "./platform-api.ts"

/**
 * Returns the version that had all of the traffic before; if the traffic is split, the version before the split. Null
 * if there is none.
 */
export function findEarlierVersion(deployments: readonly Deployment[]): string | null {
  const [active, ...earlier] = deployments
  const isSplit = (active?.versions.length ?? 0) > 1
  const now = isSplit ? null : active?.versions[0]?.version
  for (const { versions } of earlier) {
    const [only] = versions
    if (versions.length === 1 && only !== undefined && only.version !== now) return only.version
  }
  return null
}

/**
 * Gives all traffic to the earlier version, or to `to`. Returns its id, and the ids of the versions that had the
 * traffic.
 *
 * Throws PlatformError with a message for the user if there is no such version or it can no longer be deployed.
 */
export async function rollBack(
  api: PlatformApi,
  to: string | null,
  isDryRun: boolean,
): Promise<{ readonly from: readonly string[]; readonly to: string }> {
  const deployments = await api.listDeployments()
  const target = to ?? findEarlierVersion(deployments)
  if (target === null) throw new PlatformError("There is no earlier version to go back to.", null)
  const from = deployments[0]?.versions.map(({ version }) => version) ?? []
  if (from.length === 1 && from[0] === target)
    throw new PlatformError(`Version ${target} has all of the traffic.`, null)
  const deployable = await api.listDeployableVersions()
  if (!deployable.some(({ id }) => id === target))
    throw new PlatformError(
      `Version ${target} cannot be deployed any more: it is too old, or a migration was applied after it.
A migration cannot be undone. Fix the code, and deploy that.`,
      null,
    )
  if (!isDryRun) await api.createDeployment([{ version: target, share: 100 }], `cuecard: rollback to ${target}`)
  return { from, to: target }
}
