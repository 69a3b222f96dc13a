import type { SandboxPrograms } from './doors.ts';
import { exchanged, put, renamed, truncated, withMode, without, written } from './effects.ts';
import type { Known } from './known.ts';
import { requireSame } from './oracle.ts';
import type { Check, Effect, Plan } from './plan.ts';
import type { ProgramStep } from './steps.ts';
import { lose, mayBeOne, move, namesOf, ownOf, touch } from './traces.ts';
import { contentOf, directory, file, isFile, isSymlink, modeOf, symlink, type Tree } from './tree.ts';
import type { World } from './world.ts';

/** A step that programs in a sandbox make by the kernel's requests. */
export function planPrograms(world: World, known: Known, tree: Tree, step: ProgramStep): Plan | undefined {
  if (!known.running) return undefined;
  const [kind, place] = step;
  const { programs } = known;
  switch (kind) {
    case 'create': {
      const [, , path, size] = step;
      const text = world.text(size);
      touch(known, [path], [text]);
      const own = [put(tree, path, file(text)), put(tree, path, file(''))];
      return { place, run: () => programs.create(path, text), effect: { own } };
    }
    case 'overwrite': {
      const [, , path, size] = step;
      const text = world.text(size);
      const run = () => {
        programs.set(path, { size: 0 });
        if (size > 0) programs.write(path, text);
      };
      return {
        place,
        run,
        effect: ofFile(known, tree, path, (entry) => written(truncated(entry, 0), 0, text)),
      };
    }
    case 'write':
    case 'truncate': {
      const path = step[2];
      const text = kind === 'write' ? world.text(step[4]) : '';
      const change = (entry: string) => (kind === 'write' ? written(entry, step[3], text) : truncated(entry, step[3]));
      const run = () =>
        kind === 'write' ? programs.write(path, text, step[3]) : programs.set(path, { size: step[3] });
      return { place, run, effect: ofFile(known, tree, path, change) };
    }
    case 'chmod': {
      const [, , path, mode] = step;
      const change = (entry: string) => withMode(entry, mode);
      return {
        place,
        run: () => programs.set(path, { mode }),
        effect: ofFile(known, tree, path, change),
      };
    }
    case 'touch':
    case 'rewrite':
    case 'chmod and back':
    case 'rename and back': {
      const path = step[2];
      touch(known, [path], ownOf(tree, path));
      const entry = tree.get(path);
      return { place, run: () => entry !== undefined && comeBack(programs, kind, path, entry) };
    }
    case 'mkdir': {
      const [, , path] = step;
      touch(known, [path]);
      return { place, run: () => programs.mkdir(path), effect: { own: [put(tree, path, directory())] } };
    }
    case 'unlink':
    case 'rmdir': {
      const [, , path] = step;
      touch(known, [path]);
      lose(known, [path]);
      return { place, run: () => programs[kind](path), effect: { own: [without(tree, path)] } };
    }
    case 'symlink': {
      const [, , target, path] = step;
      touch(known, [path]);
      const text = world.targetOf(target);
      const own = [put(tree, path, symlink(text))];
      return { place, run: () => programs.symlink(text, path), effect: { own } };
    }
    case 'link': {
      const [, , from, to] = step;
      touch(known, [from, to], ownOf(tree, from));
      const entry = tree.get(from);
      if (entry !== undefined) known.aliases.push(new Set([from, to]));
      return { place, run: () => programs.link(from, to), effect: { own: [put(tree, to, entry ?? '')] } };
    }
    case 'rename':
    case 'exchange': {
      const [, , from, to] = step;
      touch(known, [from, to], [...ownOf(tree, from), ...ownOf(tree, to)]);
      lose(known, [from, to]);
      move(known, from, to, kind === 'exchange');
      const moved = kind === 'rename' ? renamed(tree, from, to) : exchanged(tree, from, to);
      // Two names of one file stay.
      const own = mayBeOne(known, from, to) ? [moved, tree] : [moved];
      return { place, run: () => programs.rename(from, to, kind === 'exchange' ? 2 : 0), effect: { own } };
    }
    case 'forget':
      return { place, run: () => programs.forgetAll() };
  }
}

/** All requests are refused, or none is. */
function comeBack(
  programs: SandboxPrograms,
  kind: 'touch' | 'rewrite' | 'chmod and back' | 'rename and back',
  path: string,
  entry: string,
): void {
  switch (kind) {
    case 'touch':
      programs.set(path, { mtime: { sec: 1_000_000_000, nsec: 0 } });
      break;
    case 'rewrite':
      if (!isFile(entry)) return;
      programs.set(path, { size: 0 });
      if (contentOf(entry) !== '') programs.write(path, contentOf(entry));
      break;
    case 'chmod and back':
      if (isSymlink(entry)) return;
      programs.set(path, { mode: 0o700 });
      programs.set(path, { mode: modeOf(entry) });
      break;
    case 'rename and back':
      programs.rename(path, `${path}-moved`);
      programs.rename(`${path}-moved`, path);
  }
}

/** A change of what is in a file, or of its mode, under all names that it may have. */
function ofFile(known: Known, tree: Tree, path: string, change: (entry: string) => string): Effect {
  const before = tree.get(path);
  if (before === undefined) return {};
  const entry = change(before);
  const names = namesOf(known, path);
  touch(known, [...names], isFile(entry) ? [contentOf(entry)] : []);
  const own: Check = (seen) => {
    const expected = put(tree, path, entry);
    for (const name of names)
      if (name !== path && seen.get(name) === entry && tree.get(name) === before) expected.set(name, entry);
    requireSame('after the change of a file', seen, expected);
  };
  return { own };
}
