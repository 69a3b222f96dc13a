import { createHash } from 'node:crypto';
import { breaks } from '../breaks.ts';

/**
 * SHA-256 of an operation's name and its request, independent of the order of the fields and of the protocol. A large
 * request is hashed in steps.
 */
export async function fingerprintOf(operation: string, request: object): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of canonical([operation, request])) {
    hash.update(piece);
    const pause = breaks.due();
    if (pause) await pause;
  }
  return hash.digest('base64url');
}

/** JSON with the names of each object in order. */
function* canonical(value: unknown): Generator<string, void, void> {
  if (Array.isArray(value)) {
    yield '[';
    for (const each of value) {
      yield* canonical(each);
      yield ',';
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null) {
    yield '{';
    for (const [name, each] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
      yield `${JSON.stringify(name)}:`;
      yield* canonical(each);
      yield ',';
    }
    yield '}';
  } else yield JSON.stringify(value) ?? 'null';
}
