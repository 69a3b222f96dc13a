import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../lib/errors.ts';
import { checkpoint, rollback } from '../../../../lib/sandboxes/tree/checkpoint.ts';
import { discardChanges } from '../../../../lib/sandboxes/tree/discard.ts';
import { chosen } from '../../trees/model/chosen.ts';
import { CommitWorld } from './commit-world.ts';
import type { SandboxOnDisk } from './sandbox-on-disk.ts';

let world: CommitWorld;
let a: SandboxOnDisk;
let b: SandboxOnDisk;

beforeEach(async () => {
  world = new CommitWorld();
  for (const path of ['d/x', 'd/y', 'z']) await world.scratch.put(path);
  [a, b] = [await world.sandbox(11n), await world.sandbox(12n)];
});

/** Runs once, when programs may go on for the n-th time. */
function onceAt(n: number, run: () => void): void {
  world.meanwhile = () => {
    if (--n === 0) run();
  };
}

const shown = async (sandbox: SandboxOnDisk) =>
  Object.fromEntries(world.flat((await sandbox.freeze(false)).mine, sandbox));

describe('a commit', () => {
  it('gives the codebase what the sandbox has, which has no changes then', async () => {
    a.write('d/x', 'new');
    a.remove('z');
    a.write('large', Buffer.alloc(70_000, 1));
    const { paths, version } = await world.commit(a);
    expect([...paths]).toEqual(['d/x', 'large', 'z']);
    expect([version, await world.changes(a)]).toEqual([world.codebase.head.number, []]);
    expect(await shown(a)).toEqual(Object.fromEntries(world.flat(world.codebase.head.root)));
  });

  it('commits what is chosen, and leaves the rest', async () => {
    a.write('d/x', 'new');
    a.write('d/y', 'other');
    await world.commit(a, { choice: chosen(['d/x']) });
    expect(world.files).toMatchObject({ 'd/x': 'f644:new', 'd/y': 'f644:d/y' });
    expect(await world.changes(a)).toEqual(['d/y']);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'keeps what programs write meanwhile, as a change of what was committed: %i',
    async (n) => {
      a.write('d/x', 'new');
      onceAt(n, () => {
        a.write('d/x', 'newer');
        a.write('d/w', 'w');
      });
      await world.commit(a);
      world.meanwhile = () => {};
      const written = (await shown(a))['d/x'] === 'f644:newer';
      expect(world.files['d/x']).toBe('f644:new');
      expect(await world.changes(a)).toEqual(written ? ['d/w', 'd/x'] : []);
      await world.commit(a);
      expect(world.files['d/x']).toBe(written ? 'f644:newer' : 'f644:new');
    },
  );

  it('makes no version of what the codebase has already', async () => {
    b.write('z', 'same');
    a.write('z', 'same');
    await world.commit(b);
    const { number } = world.codebase.head;
    expect(await world.commit(a)).toEqual({ version: number, count: 0, paths: [], conflicts: [] });
    expect(await world.changes(a)).toEqual([]);
  });

  it('changes nothing if a chosen change is refused', async () => {
    a.write('d/x', 'new');
    const { version } = world.codebase.head;
    const check = () => {
      throw new ServiceError('PERMISSION_DENIED', 'the rules forbid it');
    };
    await expect(world.commit(a, { check })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(world.codebase.head.version).toBe(version);
    expect(await world.changes(a)).toEqual(['d/x']);
  });

  it('is refused before anything is written if the codebase has no room', async () => {
    world.scratch.limits = { maxBytes: 20, maxFiles: 0 };
    world.scratch.open();
    a.write('d/x', 'x'.repeat(100));
    await expect(world.commit(a)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect(world.files['d/x']).toBe('f644:d/x');
    expect(await world.changes(a)).toEqual(['d/x']);
  });

  it('is followed by others where they have changed nothing', async () => {
    a.write('d/x', 'of a');
    b.write('d/y', 'of b');
    await world.commit(a);
    await world.follow(b);
    expect(await shown(b)).toMatchObject({ 'd/x': 'f644:of a', 'd/y': 'f644:of b' });
    expect(await world.changes(b)).toEqual(['d/y']);
  });
});

describe('changes of a sandbox', () => {
  it('are listed with where a file or directory was before', async () => {
    a.rename('d', 'e');
    a.write('e/x', 'new');
    expect(await world.changes(a)).toEqual(['d', 'd/x', 'd/y', 'd -> e', 'd/x -> e/x', 'd/y -> e/y']);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('are discarded at chosen paths, while programs go on (%i)', async (n) => {
    a.write('d/x', 'new');
    a.write('d/y', 'kept');
    b.write('d/x', 'of b');
    await world.commit(b);
    onceAt(n, () => a.write('d/w', 'w'));
    await discardChanges(a, world.codebase, chosen(['d/x']));
    world.meanwhile = () => {};
    expect(await shown(a)).toMatchObject({ 'd/x': 'f644:of b', 'd/y': 'f644:kept' });
    expect((await world.changes(a)).filter((path) => path !== 'd/w')).toEqual(['d/y']);
  });

  it('are discarded although programs write the same names all the time: they wait for it', async () => {
    a.write('d/x', 'new');
    world.meanwhile = () => a.write('d/x', 'newer');
    await discardChanges(a, world.codebase, chosen(['d/x']));
    world.meanwhile = () => {};
    expect(await world.changes(a)).toEqual([]);
  });
});

describe('a checkpoint', () => {
  it('is what a sandbox has again after a rollback, with what others changed since', async () => {
    a.write('d/x', 'then');
    const then = await checkpoint(a, world.codebase);
    a.write('d/x', 'later');
    a.rename('d', 'e');
    b.write('z', 'of b');
    await world.commit(b);
    await rollback(a, world.codebase, then);
    expect(await shown(a)).toMatchObject({ 'd/x': 'f644:then', z: 'f644:of b' });
    expect(await world.changes(a)).toEqual(['d/x']);
  });

  it('before a commit of the sandbox has what was committed since as a change of the codebase', async () => {
    a.write('d/x', 'then');
    const then = await checkpoint(a, world.codebase);
    a.write('d/x', 'committed');
    a.write('d/new', 'committed');
    await world.commit(a);
    await rollback(a, world.codebase, then);
    expect(await shown(a)).toMatchObject({ 'd/x': 'f644:then', 'd/new': 'f644:committed' });
    await expect(world.commit(a)).rejects.toMatchObject({ code: 'ABORTED', details: [{ conflicts: ['d/x'] }] });
    await world.follow(a);
    expect(await shown(a)).toMatchObject({ 'd/x': 'f644:then' });
  });

  it('is what a fork begins with, whose changes are its own from then on', async () => {
    a.write('d/x', 'of both');
    const child = await world.sandbox(13n, await checkpoint(a, world.codebase));
    a.write('d/x', 'of a');
    child.write('d/y', 'of the child');
    expect(await world.changes(child)).toEqual(['d/x', 'd/y']);
    await world.commit(child);
    expect(world.files).toMatchObject({ 'd/x': 'f644:of both', 'd/y': 'f644:of the child' });
    await expect(world.commit(a)).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
