import { ServiceError } from '../../../../lib/errors.ts';
import { execRequest, forkOf, never } from '../fixture.ts';
import { bytes } from './bytes.ts';
import { put, putWithParents, renamed, without } from './effects.ts';
import type { Known } from './known.ts';
import { cameLater, checkCommitted, checkRolledBack } from './oracle.ts';
import { type Check, type Effect, free, type Plan } from './plan.ts';
import { planCommit } from './plan-commit.ts';
import { planHunks } from './plan-hunks.ts';
import { RULES } from './rules.ts';
import type { CallStep } from './steps.ts';
import { lose, move, ownOf, touch } from './traces.ts';
import {
  contentOf,
  difference,
  isAtOrBelow,
  isFile,
  isSymlink,
  overlaid,
  parentOf,
  same,
  symlink,
  type Tree,
  upwards,
} from './tree.ts';
import type { World } from './world.ts';

/** A step of a client, through the API of sandboxes. */
export function planCall(world: World, known: Known, tree: Tree, step: CallStep): Plan | undefined {
  const [kind, place] = step;
  const { id, programs } = known;
  const { sandboxes } = world.server;
  const base = world.base;
  const later = cameLater(known, tree, base, known.changes);
  const commits: Effect =
    known.autoCommit === 'never'
      ? {}
      : { base: [base, new Map([...tree, ...later])], own: (seen) => checkCommitted(seen, tree, later) };
  const running = <P extends Plan>(plan: P) => (known.running ? plan : undefined);
  switch (kind) {
    case 'relink': {
      const [, , target, path] = step;
      touch(known, [path]);
      lose(known, [path]);
      const text = world.targetOf(target);
      const run = async () => {
        if (tree.has(path)) await sandboxes.deleteFile({ sandbox_id: id, as: 'agent', path, recursive: true });
        programs.symlink(text, path);
      };
      const gone = without(tree, path);
      // The file API follows links on the way, programs of the model do not.
      const own = follows(tree, parentOf(path)) ? free : [put(gone, path, symlink(text))];
      return running({ place, run, effect: { own }, refused: { own: own === free ? free : [tree, gone] } });
    }
    case 'put': {
      const [, , as, path, size] = step;
      const text = world.text(size);
      touch(known, [path, ...upwards(path)], [text]);
      const before = tree.get(path);
      const mode = isFile(before) ? before!.slice(0, before!.indexOf(' ', 2)) : 'f 644';
      const own = follows(tree, path) ? free : [putWithParents(tree, path, `${mode} ${text}`)];
      const run = () => sandboxes.writeFile({ sandbox_id: id, as, path, mode: 0 }, bytes(text));
      return { place, run, effect: { own } };
    }
    case 'move': {
      const [, , as, from, to] = step;
      const own = follows(tree, parentOf(from)) || follows(tree, parentOf(to)) ? free : [renamed(tree, from, to)];
      const moved = [...tree].filter(([at]) => isAtOrBelow(at, from)).map(([, entry]) => entry);
      const contents = as === 'owner' ? moved.filter(isFile).map(contentOf) : ownOf(tree, from);
      touch(known, [from, to], contents);
      lose(known, [from, to]);
      move(known, from, to, false);
      const run = () => sandboxes.moveFile({ sandbox_id: id, as, from, to, replace: false });
      return { place, run, effect: { own } };
    }
    case 'rm': {
      const [, , as, path] = step;
      touch(known, [path]);
      lose(known, [path]);
      const own = follows(tree, parentOf(path)) ? free : [without(tree, path)];
      // Wherever the links lead.
      if (own === free) lose(known, [...tree.keys()]);
      const run = () => sandboxes.deleteFile({ sandbox_id: id, as, path, recursive: true });
      return { place, run, effect: { own } };
    }
    case 'exec': {
      const run = async () => {
        for await (const _event of await sandboxes.exec(execRequest(id), never));
      };
      return running({ place, run, effect: known.autoCommit === 'on_exec' ? commits : {} });
    }
    case 'stop':
      return { place, run: () => sandboxes.stop(id), effect: commits, refused: commits };
    case 'start':
      return { place, run: () => sandboxes.start(id), effect: commits, refused: commits };
    case 'destroy':
      world.leaving.add(id);
      return { place, run: () => sandboxes.destroy(id), effect: commits, refused: commits };
    case 'commit':
      return planCommit(world, known, tree, step[2], step[3]);
    case 'commit hunks':
      return planHunks(world, known, tree, step);
    case 'discard': {
      const [, , paths] = step;
      const own = [paths.length === 0 ? base : overlaid(tree, base, paths)];
      return { place, run: () => sandboxes.discard(id, paths), effect: { own } };
    }
    case 'checkpoint': {
      if (known.checkpoints.length > 3) return undefined;
      const name = `c${world.checkpoints++}`;
      known.checkpoints.push({ name, tree, base });
      return { place, run: () => sandboxes.createCheckpoint(id, name) };
    }
    case 'drop':
    case 'rollback': {
      const checkpoint = known.checkpoints[step[2] % Math.max(1, known.checkpoints.length)];
      if (checkpoint === undefined) return undefined;
      const { name } = checkpoint;
      if (kind === 'drop') return { place, run: () => sandboxes.deleteCheckpoint(id, name) };
      const own: Check = (seen) => checkRolledBack(seen, checkpoint.tree, checkpoint.base, base);
      for (const path of difference(checkpoint.base, base)) known.foreign.add(path);
      return { place, run: () => sandboxes.rollback(id, name), effect: { own } };
    }
    case 'fork': {
      const free = world.places.indexOf(undefined);
      if (free === -1) return undefined;
      const checkpoint = known.checkpoints[step[2]];
      const as: Partial<Known> = { ...known, tree };
      if (checkpoint !== undefined) {
        const { tree: then, base: baseThen } = checkpoint;
        as.tree = same(baseThen, base) ? then : undefined;
        as.foreign = new Set([...known.foreign, ...difference(baseThen, base)]);
      }
      world.coming = { place: free, as };
      const run = async () => {
        const [result] = await sandboxes.fork(forkOf(id, { checkpoint: checkpoint?.name ?? '' }));
        if (result!.error) throw new ServiceError('FAILED_PRECONDITION', result!.error.message);
      };
      return { place, run };
    }
    case 'rules': {
      const permissions = [...RULES[step[2]]!];
      return { place, run: () => sandboxes.updatePermissions({ sandbox_id: id, permissions, preset: '' }) };
    }
  }
}

/** Whether a symlink is on the way, or at the end of it. */
function follows(tree: Tree, path: string): boolean {
  return [...upwards(path)].some((at) => isSymlink(tree.get(at)));
}
