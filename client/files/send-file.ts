/** send-file.ts: the interface for uploading a file with progress. In browsers, send-file-xhr.ts implements it. */

export interface SendFileResult {
  readonly status: number
  /** The response body. */
  readonly text: string
  /** The `Retry-After` header. */
  readonly retryAfter?: string | null
}

/**
 * Uploads `body` once. `onSent` receives the number of bytes sent so far. Rejects if there is no response or `signal`
 * is aborted.
 */
export type SendFile = (
  path: string,
  body: Blob,
  token: string,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
) => Promise<SendFileResult>
