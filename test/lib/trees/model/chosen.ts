import type { Choice } from '../../../../lib/trees/algebra/choice.ts';
import { isBelow } from './flat.ts';

/** Paths with all below them, without an excluded path and all below it. */
export function chosen(paths: readonly string[], excluded?: string): Choice {
  const covers = (above: string, path: string) => above === '' || above === path || isBelow(above, path);
  const has = (path: string) =>
    paths.some((each) => covers(each, path)) && !(excluded !== undefined && covers(excluded, path));
  return {
    has,
    below: (path) => has(path) || paths.some((each) => path === '' || isBelow(path, each)),
    all: (path) => has(path) && !(excluded !== undefined && covers(path, excluded)),
  };
}
