/** call-args.ts: the name and arguments of a call that is described more than once or incompletely. Pure. SPEC IR2. */

/** The name of a call whose record names none. */
export const UNNAMED_TOOL = "tool"

const EMPTY_ARGS = new Set(["", "{}", "{ }", "[]", "null", '""'])

function isEmptyArgs(args: string): boolean {
  return EMPTY_ARGS.has(args.trim())
}

/**
 * Returns the more complete of two versions of the same arguments: the later version if the first is empty or is the
 * beginning of the later one, otherwise the first.
 */
export function chooseArgs(first: string, later: string): string {
  if (isEmptyArgs(later)) return first
  return isEmptyArgs(first) || (later.length > first.length && later.startsWith(first)) ? later : first
}

/** Adds what a second description of a call contributes. An empty value never replaces a non-empty one (SPEC IR2). */
export function fillCall<T extends { readonly name: string; readonly args: string }>(
  call: T,
  { name, args }: { readonly name: string; readonly args: string },
): T {
  const fuller = { name: call.name === UNNAMED_TOOL ? name : call.name, args: chooseArgs(call.args, args) }
  return fuller.name === call.name && fuller.args === call.args ? call : { ...call, ...fuller }
}
