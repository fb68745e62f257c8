/** Things that differ from others in a few points: everything else is asked of the inner one, also what it does not have. */

/** `inner` with `own` in place of its members of these names. A change of another member is made to `inner`. */
export function wrapped<T extends object>(inner: T, own: Partial<T>): T {
  return new Proxy(inner, {
    get(target, key) {
      if (key in own) return Reflect.get(own, key, own) as unknown
      const value: unknown = Reflect.get(target, key, target)
      // Private members of a class are found on the inner one alone.
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  })
}
