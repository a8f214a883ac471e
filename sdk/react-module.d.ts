/** react-module.d.ts: the functions of React that this package uses. The types of React are no dependency. */

declare module "react" {
  export function useMemo<T>(create: () => T, inputs: readonly unknown[]): T
  export function useSyncExternalStore<T>(
    subscribe: (listener: () => void) => () => void,
    getSnapshot: () => T,
    getServerSnapshot: () => T,
  ): T
}
