/**
 * session-key.ts: the keys of sessions, which name their objects and the folders of their files within a tenant.
 *
 * A key is the session's public id. If another user of the tenant already has a session of that id, it is `<id>.<user>`
 * instead, so that nobody learns from a request which ids others use. Neither ids nor users contain a dot (SPEC AU17).
 */

/** The key of a user's session whose public id was taken. */
export function createPrivateKey(id: string, user: string): string {
  return `${id}.${user}`
}

/** The id by which clients know a session. */
export function keyToPublicId(key: string): string {
  return key.split(".", 1)[0] ?? key
}
