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
