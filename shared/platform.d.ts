/**
 * platform.d.ts: declares the two platform classes that `shared/` uses, URL and TextDecoder.
 *
 * Both are pure and exist in every runtime that runs this code, but no ECMAScript type library declares them. Only the
 * pure members are declared, so the compiler still rejects everything else. Only `shared/` includes this file; the
 * other folders use their own platform's types.
 */

declare class URL {
  constructor(url: string)
  readonly href: string
  readonly protocol: string
  readonly username: string
  readonly password: string
  readonly hostname: string
  readonly host: string
  readonly origin: string
  readonly pathname: string
}

declare class TextDecoder {
  constructor(label: "utf-8", options: { readonly fatal: boolean; readonly ignoreBOM: boolean })
  decode(bytes: Uint8Array): string
}
