/**
 * platform.d.ts: the one thing of the platform that shared uses: reading a URL as browsers do.
 *
 * `URL` is a pure function of its text and is in every runtime that this code meets, but in no ECMAScript library of
 * types. Only what is pure of it is declared, so the compiler still bars the rest. Seen by shared alone: the other rooms
 * have their platform's own types.
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
