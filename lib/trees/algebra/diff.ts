import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { type Difference, differences } from '../directory/differences.ts';
import { type Entry, isDirectory } from '../format/entry.ts';
import { NO_KEY } from '../format/keys.ts';
import type { Comparison } from './comparison.ts';

export interface PathChange {
  readonly path: ByteString;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

export interface DiffOptions {
  /** Also the paths where only times or numbers differ. */
  readonly raw?: boolean;
  /** Whether what is below an entry counts. It is left out if this is false for both entries of a path. */
  readonly enters?: (entry: Entry | undefined) => boolean;
}

/** The paths at which two trees are not the same, a directory before what is in it. Of a directory its mode counts here. */
export function* diff(
  comparison: Comparison,
  before: Entry | undefined,
  after: Entry | undefined,
  { raw = false, enters = () => true }: DiffOptions = {},
): Generator<PathChange, void, void> {
  // Not recursive: each change of a nested generator would pass through as many as its path has names.
  const stack: { path: ByteString; names: Iterator<Difference> }[] = [];
  const enter = (path: ByteString, a: Entry | undefined, b: Entry | undefined) => {
    const [left, right] = [a, b].map((entry) => (isDirectory(entry) ? entry.key : NO_KEY));
    if (left !== right && (enters(a) || enters(b)))
      stack.push({ path, names: differences(comparison.source, left!, right!) });
  };
  if (raw || !comparison.alike(before, after)) yield { path: ROOT_PATH, before, after };
  enter(ROOT_PATH, before, after);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = top.names.next();
    if (next.done) {
      stack.pop();
      continue;
    }
    const { name, a, b } = next.value;
    const path = joinPath(top.path, name);
    if (raw || !comparison.alike(a, b)) yield { path, before: a, after: b };
    enter(path, a, b);
  }
}
