/** watch-calls.ts: wraps an object so that each call to one of its methods is reported before it happens. */

export function watchCalls<T extends object>(target: T, onCall: () => void): T {
  return new Proxy(target, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name)
      // A Durable Object's stub appears to have every method, but it must not look like a promise.
      if (typeof value !== "function" || name === "then") return value
      return (...args: unknown[]) => {
        onCall()
        return Reflect.apply(value, inner, args)
      }
    },
  })
}
