/** image-env.ts: the binding and the variable of Workers AI's text-to-image models. */

export interface ImageEnv {
  /** Workers AI. Without it, the built-in renderer draws images. */
  readonly AI?: { run(model: string, input: { readonly prompt: string }): Promise<unknown> }
  readonly IMAGE_MODEL?: string
}
