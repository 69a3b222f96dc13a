import { describe, expect, it } from 'vitest';
import { CommitWorld } from './commit-world.ts';
import type { SandboxOnDisk } from './sandbox-on-disk.ts';

type Links = (b: SandboxOnDisk) => void;

describe('a commit of a sandbox that has renamed a directory', () => {
  it.each<[string, Links, string]>([
    ['a hard link of a file in it', (b) => b.link('d/x', 'd/y'), 'd/y'],
    ['a hard link of a file beside it', (b) => b.link('z', 'd/y'), 'd/y'],
    ['a symlink', (b) => b.symlink('d/y', 'x'), 'd/y'],
    ['a hard link in a directory below it', (b) => b.link('d/x', 'd/e/y'), 'd/e/y'],
  ])('is told of what another one has committed below it: %s', async (_, makes, path) => {
    const world = new CommitWorld();
    for (const file of ['d/x', 'd/e/w', 'z']) await world.scratch.put(file);
    const [a, b] = [await world.sandbox(11n), await world.sandbox(12n)];
    a.rename('d', 'f');
    makes(b);
    await world.commit(b);
    await expect(world.commit(a)).rejects.toMatchObject({ code: 'ABORTED', details: [{ conflicts: ['d'] }] });
    expect(world.files).toHaveProperty([path]);
    await world.commit(a, { onConflict: 'theirs' });
    expect(world.files).toHaveProperty([path]);
  });
});
