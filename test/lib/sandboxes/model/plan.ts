import { requireSame, Violation } from './oracle.ts';
import { same, type Tree } from './tree.ts';

/** One that may be, or says what is wrong. */
export type Check = readonly Tree[] | ((seen: Tree) => void);

/** What a step may do to the sandbox that it is about and to the codebase, when it succeeds. Absent: nothing. */
export interface Effect {
  own?: Check;
  base?: Check;
}

export interface Plan {
  place?: number;
  run: () => unknown;
  effect?: Effect;
  /** Of a call that was refused. */
  refused?: Effect;
}

/** Links on the way make more than one outcome right. */
export const free: Check = () => undefined;

export function allow(what: string, seen: Tree, checks: readonly Check[]): void {
  let first: unknown;
  for (const check of checks) {
    try {
      if (typeof check === 'function') check(seen);
      else if (!check.some((each) => same(each, seen))) requireSame(what, seen, check[0]!);
      return;
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      first ??= new Violation(`${what}: ${error.message}`);
    }
  }
  throw first;
}
