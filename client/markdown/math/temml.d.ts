/**
 * temml.d.ts: types for the part of Temml that is used. TypeScript doesn't find Temml's own types, because the package
 * lists them last.
 */

declare module "temml" {
  interface TemmlOptions {
    readonly displayMode: boolean
    readonly throwOnError: boolean
    readonly trust: boolean
    readonly strict: boolean
    readonly maxExpand: number
    /** In `em`. */
    readonly maxSize: readonly [number, number]
    readonly macros: Record<string, never>
  }
  const temml: { __renderToMathMLTree(tex: string, options: TemmlOptions): object }
  export default temml
}
