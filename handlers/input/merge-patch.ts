/**
 * How a null of a merge patch (RFC 7396) becomes part of a request message, which has no null. Other fields accept no
 * null.
 */
export interface MergePatch {
  /** Of a map: the repeated field of the keys to remove, and the bool that removes all. */
  removes: Readonly<Record<string, { keys: string; all: string }>>;
  /** The value that stands for null. */
  resets: Readonly<Record<string, unknown>>;
}

/** Returns the body with each null replaced. Anything that is not of the expected form is left to the fields' readers. */
export function fromMergePatch(body: unknown, { removes, resets }: MergePatch): unknown {
  if (!isObject(body)) return body;
  const patched: Record<string, unknown> = { ...body };
  for (const [field, value] of Object.entries(resets)) if (patched[field] === null) patched[field] = value;
  for (const [field, { keys, all }] of Object.entries(removes)) {
    const map = patched[field];
    if (map === null) patched[all] = true;
    if (!isObject(map)) continue;
    const entries = Object.entries(map);
    const removed = entries.filter(([, value]) => value === null).map(([key]) => key);
    if (removed.length === 0) continue;
    patched[field] = Object.fromEntries(entries.filter(([, value]) => value !== null));
    const others = patched[keys] ?? [];
    patched[keys] = Array.isArray(others) ? [...others, ...removed] : others;
  }
  return patched;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
