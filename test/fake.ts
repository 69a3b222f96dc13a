/** An object that has only the given members. A call of any other fails with its name. */
export function fake<T extends object>(given: Partial<T> | undefined, name: string): T {
  return new Proxy((given ?? {}) as T, {
    get(target, key) {
      if (typeof key === 'symbol' || key in target) return target[key as keyof T];
      return () => {
        throw new Error(`unexpected call of ${name}.${key}`);
      };
    },
  });
}
