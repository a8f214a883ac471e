/** compare-secrets.ts: compares secrets and their hashes in constant time. */

/** Whether two hashes are the same. Hashes of different lengths differ. */
export function isSameHash(a: string, b: string): boolean {
  const [bytesA, bytesB] = [new TextEncoder().encode(a), new TextEncoder().encode(b)]
  return bytesA.byteLength === bytesB.byteLength && crypto.subtle.timingSafeEqual(bytesA, bytesB)
}

/** Whether two secrets of any length are the same. */
export async function isSameSecret(a: string, b: string): Promise<boolean> {
  const [hashA, hashB] = await Promise.all([hashSecret(a), hashSecret(b)])
  return crypto.subtle.timingSafeEqual(hashA, hashB)
}

async function hashSecret(text: string): Promise<ArrayBuffer> {
  return await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
}
