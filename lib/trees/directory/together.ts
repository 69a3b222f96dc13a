import type { Key } from '../format/keys.ts';
import type { Difference } from './differences.ts';
import { entriesOf } from './entries.ts';
import type { Source } from './source.ts';

/** All names of two directories, ascending, also where both have the same. */
export function* together(source: Source, a: Key, b: Key): Generator<Difference, void, void> {
  const [left, right] = [entriesOf(source, a), entriesOf(source, b)];
  let [x, y] = [left.next(), right.next()];
  while (!x.done || !y.done) {
    const [one, other] = [x.value, y.value];
    const name = other === undefined || (one !== undefined && one.name < other.name) ? one!.name : other.name;
    yield { name, a: one?.name === name ? one : undefined, b: other?.name === name ? other : undefined };
    if (one?.name === name) x = left.next();
    if (other?.name === name) y = right.next();
  }
}
