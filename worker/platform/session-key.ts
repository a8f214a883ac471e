/**
 * session-key.ts: the keys of sessions. A key names the session's object and the folder of its files within a tenant.
 *
 * A key is the session's public id. If another user of the tenant already has a session with that id, the key is
 * `<id>.<user>` instead, so that a request never reveals which ids others use. Neither ids nor users contain a dot
 * (SPEC AU17).
 */

/** Creates the key of a user's session whose public id was taken. */
export function createPrivateKey(id: string, user: string): string {
  return `${id}.${user}`
}

/** Returns the id by which clients know a session. */
export function keyToPublicId(key: string): string {
  return key.split(".", 1)[0] ?? key
}
