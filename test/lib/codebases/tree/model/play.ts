import { expect } from 'vitest';
import { toText } from '../../../../../lib/byte-string.ts';
import { ContentsReader } from '../../../../../lib/codebases/tree/contents-reader.ts';
import { walk } from '../../../../../lib/codebases/tree/walk.ts';
import type { ImportMode } from '../../../../../lib/field-values.ts';
import type { DirectoryEntry } from '../../../../../lib/trees/format/entry.ts';
import { isDirectory } from '../../../../../lib/trees/format/entry.ts';
import type { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import type { Random } from '../../../trees/random.ts';
import { archiveOf, type Content, type Members } from '../archives.ts';
import { codeOf, TreeScratch } from '../trees.ts';
import { type Node, Oracle } from './oracle.ts';

interface Act {
  readonly isAlone?: boolean;
  /** Answers with the code of a refusal. */
  run(scratch: TreeScratch): Promise<string>;
  /** The same in the oracle. */
  expect(oracle: Oracle): string | undefined;
}

const NAMES = ['a', 'b', 'a.b', 'é'];
const MODES: readonly ImportMode[] = ['merge', 'replace', 'update'];
const LIVES = 3;
/** The call may have failed with the disk, and then nothing was changed. */
const FAILURES = new Set(['UNAVAILABLE', 'RESOURCE_EXHAUSTED']);

/** Servers, one after the other, on one disk. Each ends in the middle of something. */
export async function play(random: Random, faults: boolean): Promise<void> {
  let scratch = new TreeScratch();
  const oracle = new Oracle();
  const kept: { root: DirectoryEntry; lines: string[] }[] = [];
  for (let life = 0; life < LIVES; life++) {
    for (let turns = 2 + random(5); turns > 0; turns--) {
      if (faults) scratch.disk.fault = { at: scratch.disk.calls + random(12), with: random(2) ? 'EIO' : 'ENOSPC' };
      await turn(scratch, oracle, random, faults);
      scratch.disk.fault = undefined;
      check(scratch, scratch.codebase.head.root, oracle.lines);
      kept.push({ root: scratch.codebase.head.root, lines: oracle.lines });
    }
    scratch.disk.fault = { at: scratch.disk.calls + random(8), with: 'stop' };
    await turn(scratch, oracle, random, true);
    const { head } = scratch.codebase;
    const disk: SimulatedDisk = random(2) ? scratch.disk.killed() : scratch.disk.crashed(random);
    scratch = new TreeScratch(disk, head);
    check(scratch, head.root, oracle.lines);
    // Versions never change.
    const old = kept[random(kept.length)]!;
    check(scratch, old.root, old.lines);
  }
}

/** Some changes at the same time. They are made in their order. */
async function turn(scratch: TreeScratch, oracle: Oracle, random: Random, faults: boolean): Promise<void> {
  const some = Array.from({ length: 1 + random(6) }, () => anyAct(random));
  // An import takes its turn when the archive is there, so its place among others is not known.
  const acts = some.some(({ isAlone }) => isAlone) ? some.filter(({ isAlone }) => isAlone).slice(0, 1) : some;
  const codes = await Promise.all(acts.map((act) => act.run(scratch)));
  for (const [index, act] of acts.entries()) {
    const code = codes[index]!;
    if (faults && (FAILURES.has(code) || code.startsWith('Stopped'))) continue;
    expect(code).toBe(act.expect(oracle) ?? 'fulfilled');
  }
}

function anyAct(random: Random): Act {
  const path = anyPath(random);
  const kind = random(8);
  if (kind < 4) {
    const text = anyText(random);
    const mode = random(2) ? 0o644 : 0o755;
    return {
      run: (scratch) => codeOf(() => scratch.put(path, text, { mode })),
      expect: (oracle) => oracle.put(path, { file: text, mode }),
    };
  }
  if (kind === 4) {
    return {
      run: (scratch) => codeOf(() => scratch.put(path, '', { symlinkTarget: 'a/b' })),
      expect: (oracle) => oracle.put(path, { link: 'a/b' }),
    };
  }
  if (kind < 7 || random(2)) {
    return { run: (scratch) => codeOf(() => scratch.codebase.remove(path)), expect: (oracle) => oracle.remove(path) };
  }
  const mode = MODES[random(3)]!;
  const members: Members = Array.from({ length: random(6) }, () => anyMember(random, mode));
  return {
    isAlone: true,
    run: (scratch) => codeOf(() => scratch.import(archiveOf(members), mode)),
    expect: (oracle) => oracle.import(members, mode),
  };
}

function anyMember(random: Random, mode: ImportMode): Members[number] {
  const path = anyPath(random);
  if (mode === 'update' && random(3) === 0) return [path.replace(/[^/]+$/, (name) => `.wh.${name}`), ''];
  const contents: Content[] = [
    'directory',
    { to: 'a' },
    { to: anyPath(random), hard: true },
    anyText(random),
    anyText(random),
  ];
  return [path, contents[random(contents.length)]!, random(2) ? 0o644 : 0o700];
}

function anyPath(random: Random): string {
  return Array.from({ length: 1 + random(3) }, () => NAMES[random(NAMES.length)]!).join('/');
}

function anyText(random: Random): string {
  return String(random(5)).repeat(random(9) ? random(30) : 70_000);
}

/** All of a tree is there and as it should be. */
function check({ store, disk }: TreeScratch, root: DirectoryEntry, lines: string[]): void {
  const found = new Map<string, Node>();
  const names = new Map<number, number[]>();
  let [files, bytes] = [0, 0];
  for (const { path, entry } of walk(store, root)) {
    names.set(entry.ino, [...(names.get(entry.ino) ?? []), entry.nlink]);
    if (isDirectory(entry)) {
      found.set(toText(path), { dir: entry.mode });
      continue;
    }
    files++;
    bytes += entry.size;
    if (entry.target !== undefined) {
      found.set(toText(path), { link: toText(entry.target) });
      continue;
    }
    const reader = new ContentsReader(store, disk, entry);
    found.set(toText(path), { file: reader.read(entry.size).toString(), mode: entry.mode });
    reader.close();
  }
  expect(new Oracle(found).lines).toEqual(lines);
  expect(root.totals).toMatchObject({ files, bytes });
  for (const [ino, counts] of names) expect([ino, counts]).toEqual([ino, Array(counts.length).fill(counts.length)]);
}
