/** media-bucket.ts: the R2 bucket of a tenant. */

export interface MediaEnv {
  readonly MEDIA: R2Bucket
}

/** The bucket of a tenant. */
export function mediaBucket(env: MediaEnv, _tenant: string): R2Bucket {
  return env.MEDIA
}
