/** Returns the length of the longest array to which an item is added while `act` runs. */
export function longestArrayIn(act: () => void): number {
  const { push } = Array.prototype;
  let longest = 0;
  const counting = function (this: unknown[], ...items: unknown[]): number {
    const length = Reflect.apply(push, this, items);
    longest = Math.max(longest, length);
    return length;
  };
  Object.defineProperty(Array.prototype, 'push', { value: counting, configurable: true, writable: true });
  try {
    act();
  } finally {
    Object.defineProperty(Array.prototype, 'push', { value: push, configurable: true, writable: true });
  }
  return longest;
}

/** Returns the size of the largest Map or Set to which a key is added while `act` runs. */
export function largestKeysIn(act: () => void): number {
  let largest = 0;
  const watch = <P extends object, N extends keyof P>(prototype: P, name: N): (() => void) => {
    const original = prototype[name];
    const counting = function (this: { size: number }, ...args: unknown[]): unknown {
      const result = Reflect.apply(original as () => unknown, this, args);
      largest = Math.max(largest, this.size);
      return result;
    };
    const put = (value: unknown) =>
      Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
    put(counting);
    return () => put(original);
  };
  const ends = [watch(Map.prototype, 'set'), watch(Set.prototype, 'add')];
  try {
    act();
  } finally {
    for (const end of ends) end();
  }
  return largest;
}
