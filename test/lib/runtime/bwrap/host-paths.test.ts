import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readMountsSync } from '../../../../lib/linux/mountinfo.ts';
import { HostPaths } from '../../../../lib/runtime/bwrap/host-paths.ts';
import { openExactly } from '../../../../lib/runtime/bwrap/open-exactly.ts';

/** Called before each bind mount, when everything has been looked at. */
const beforeMount = vi.hoisted(() => vi.fn());
vi.mock(import('../../../../lib/linux/mount.ts'), async (original) => {
  const actual = await original();
  return {
    ...actual,
    mount: (request) => {
      if (request.type === 'none') beforeMount();
      return actual.mount(request);
    },
  };
});

let folder: string;
let paths: HostPaths;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-paths-'));
  paths = new HostPaths(folder, true, { most: 4, kept: 2 });
});
afterEach(async () => {
  await paths.close();
  rmSync(folder, { recursive: true });
});

function tool(name: string): string {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'who'), name);
  return join(folder, name);
}

const mountsIn = (directory: string): number =>
  readMountsSync().filter((each) => each.mountPoint.startsWith(`${directory}/`)).length;

describe.runIf(process.getuid?.() === 0)('host paths', () => {
  it('are mounted for sandboxes that start, so that any number is shown one after the other', async () => {
    for (let count = 0; count < 9; count++) {
      const { sources, release } = await paths.take([tool(`t${count}`)]);
      expect(readFileSync(join(sources[0]!.source, 'who'), 'utf8')).toBe(`t${count}`);
      await release();
      const directory = dirname(sources[0]!.source);
      expect([mountsIn(directory), readdirSync(directory).length]).toEqual(Array(2).fill(Math.min(count + 1, 2)));
    }
  });

  it('are refused beyond the most, and what the refused request had is given back', async () => {
    const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(tool) as [string, string, string, string, string];
    const first = await paths.take([a, b]);
    for (let count = 0; count < 3; count++) {
      await expect(paths.take([c, d, e])).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    }
    await first.release();
    await (await paths.take([c, d])).release();
  });

  it('that are missing take nothing', async () => {
    for (let count = 0; count < 9; count++) {
      await expect(paths.take([join(folder, 'gone')])).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    }
    await (await paths.take(['a', 'b', 'c', 'd'].map(tool))).release();
  });

  it('are mounted once for all that need them at the same time', async () => {
    const path = tool('t');
    const [one, two] = await Promise.all([paths.take([path]), paths.take([path])]);
    expect(one.sources).toEqual(two.sources);
    await one.release();
    expect(readFileSync(join(two.sources[0]!.source, 'who'), 'utf8')).toBe('t');
    await two.release();
  });

  it('are what is there now, if something else has taken the place', async () => {
    const path = tool('t');
    await (await paths.take([path])).release();
    renameSync(path, join(folder, 'old'));
    renameSync(tool('new'), path);
    const { sources, release } = await paths.take([path]);
    expect(readFileSync(join(sources[0]!.source, 'who'), 'utf8')).toBe('new');
    await release();
    expect(mountsIn(dirname(sources[0]!.source))).toBe(1);
  });
});

describe('a host path', () => {
  it('leads through no link, at its end or above', async () => {
    tool('t');
    symlinkSync('t', join(folder, 'end'));
    symlinkSync(folder, join(folder, 'above'));
    for (const path of ['end', 'above/t']) {
      await expect(openExactly(join(folder, path))).rejects.toThrow(/ leads to ".*\/t": name that$/);
    }
  });

  it.runIf(process.getuid?.() === 0)(
    'is what was looked at, although a link takes its place before the mount',
    async () => {
      const path = tool('t');
      const secret = tool('secret');
      beforeMount.mockImplementationOnce(() => {
        renameSync(path, join(folder, 'moved'));
        symlinkSync(secret, path);
      });
      const { sources, release } = await paths.take([path]);
      expect(readFileSync(join(sources[0]!.source, 'who'), 'utf8')).toBe('t');
      await release();
    },
  );
});
