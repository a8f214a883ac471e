/** react-module.d.ts: the functions of React that this package uses. React's types are not a dependency. */

declare module "react" {
  export function useMemo<T>(create: () => T, inputs: readonly unknown[]): T
  export function useSyncExternalStore<T>(
    subscribe: (listener: () => void) => () => void,
    getSnapshot: () => T,
    getServerSnapshot: () => T,
  ): T
}
