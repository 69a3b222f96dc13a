import { WRITE } from '../../../../lib/permissions/index.ts';
import type { Known } from './known.ts';
import { cameLater, checkCommitted, fail, requireSame } from './oracle.ts';
import type { Check, Plan } from './plan.ts';
import { levelAt } from './rules.ts';
import type { OnConflict } from './steps.ts';
import { difference, isDirectory, overlaid, type Tree } from './tree.ts';
import type { World } from './world.ts';

/** A commit by a client. */
export function planCommit(
  world: World,
  known: Known,
  tree: Tree,
  on_conflict: OnConflict,
  paths: readonly string[],
): Plan {
  const base = world.base;
  const run = () =>
    world.server.sandboxes.commit({ sandbox_id: known.id, paths: [...paths], on_conflict, dry_run: false });
  const place = world.places.indexOf(known);
  const conflicts = known.changes.filter(({ conflict }) => conflict).map(({ path }) => path);
  if (on_conflict === 'theirs' && conflicts.length > 0) {
    const check: Check = (seen) => {
      for (const path of conflicts) {
        if (seen.get(path) !== base.get(path) && !isDirectory(base.get(path)))
          fail(`theirs was overwritten at ${path}`);
      }
    };
    return { place, run, effect: { base: check, own: () => undefined } };
  }
  const later = cameLater(known, tree, base, known.changes);
  const whole = new Map([...tree, ...later]);
  const committed = paths.length === 0 ? whole : overlaid(base, whole, paths);
  const allowed: Check = (seen) => {
    requireSame('after the commit', seen, committed);
    for (const path of difference(seen, base)) {
      if (levelAt(known.rules, path).level < WRITE) fail(`${path} was committed against the rules`);
    }
  };
  return { place, run, effect: { base: allowed, own: (seen) => checkCommitted(seen, tree, later) } };
}
