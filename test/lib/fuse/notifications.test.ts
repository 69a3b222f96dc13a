import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { bundleEntry } from './bundle-entry.ts';
import { type Mounted, mounted, shell, spec } from './mounted.ts';

let bundle: Awaited<ReturnType<typeof bundleEntry>>;
let mount: Mounted;
let path: string;

beforeAll(async () => {
  bundle = await bundleEntry('worker-entry.ts');
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  mount = await mounted(bundle.entry);
  path = await mount.workspaces.attach(spec('sb_1'));
});
afterEach(() => mount.remove());

describe('changes from outside the mount', () => {
  it('show a new name in lookups and listings although its absence was cached', async () => {
    const before = await shell('cat "$1/new" 2>/dev/null || echo absent; ls "$1"', path);
    await mount.workspaces.baseChanged('cb', [fromText('sb_1/new')]);
    expect(before + (await shell('cat "$1/new"; echo; ls "$1"', path))).toBe('absent\nsb_1/new\nnew\n');
  });

  it('replace a file although its pages and attributes were cached', async () => {
    await shell('echo "a longer old content" > "$1/f"; cat "$1/f"; stat "$1/f"', path);
    await mount.workspaces.baseChanged('cb', [fromText('sb_1/f')]);
    expect(await shell('cat "$1/f"; echo; stat -c %s "$1/f"', path)).toBe('sb_1/f\n6\n');
  });

  it('remove a directory although entries below it were cached', async () => {
    await shell('mkdir -p "$1/d/e"; ls -R "$1"', path);
    await mount.workspaces.detach('sb_1');
    await expect(shell('LC_ALL=C ls "$1/d/e"', path)).rejects.toThrow(/No such file/);
  });

  it('show a workspace that is attached after a failed lookup of its path', async () => {
    await shell('ls "$1/sb_2" 2>/dev/null || :; ls "$1"', mount.mountPoint);
    await mount.workspaces.attach(spec('sb_2'));
    expect(await shell('ls "$1"', mount.mountPoint)).toBe('sb_1\nsb_2\n');
  });

  it('do not invalidate the working directory of programs', async () => {
    const script = 'mkdir "$1/d" && cd "$1/d" && echo && read -r _ && exec /bin/pwd -P';
    const program = spawn('/bin/sh', ['-c', script, 'sh', path]);
    await once(program.stdout, 'data');
    await mount.workspaces.setRules('sb_1', []);
    program.stdin.end('\n');
    expect(String(await once(program.stdout, 'data'))).toBe(`${path}/d\n`);
  });

  it('do not deadlock with programs that create, rename and remove names in the same directory', async () => {
    const script = `cd "$1"; i=0; while [ $i -lt 150 ]; do
      mkdir d$2-$i; : > n$2-$i; mv n$2-$i m$2-$i; ls > /dev/null; rmdir d$2-$i; rm m$2-$i; i=$((i+1)); done`;
    let working = 4;
    const programs = Array.from({ length: working }, (_, n) =>
      shell(script, path, String(n)).finally(() => {
        working--;
      }),
    );
    const { workspaces } = mount;
    const names = Array.from({ length: 20 }, (_, n) => `sb_1/out${n}`);
    let storms = 0;
    while (working > 0) {
      await Promise.all([workspaces.setRules('sb_1', []), workspaces.baseChanged('cb', names.map(fromText))]);
      storms++;
    }
    await Promise.all(programs);
    expect(storms).toBeGreaterThan(0);
  }, 120_000);
});
