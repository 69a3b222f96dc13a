import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { bundleEntry } from './bundle-entry.ts';
import { type Mounted, mounted, shell, spec } from './mounted.ts';

let bundle: Awaited<ReturnType<typeof bundleEntry>>;
let mount: Mounted | undefined;

beforeAll(async () => {
  bundle = await bundleEntry('worker-entry.ts');
});
afterAll(() => bundle.remove());
afterEach(async () => {
  await mount?.remove();
  mount = undefined;
});

async function start(options: Parameters<typeof mounted>[1] = {}): Promise<Mounted> {
  mount = await mounted(bundle.entry, options);
  return mount;
}

const mounts = () => readFile('/proc/self/mounts', 'utf8');

describe('mountWorkspaces', () => {
  it('serves programs until it is closed, and leaves no mount', async () => {
    const { workspaces, mountPoint } = await start();
    const path = await workspaces.attach(spec('sb_1'));
    expect(path).toBe(`${mountPoint}/sb_1/workspace`);
    const script = `cd "$1" && echo hi > f && ln f g && mv g h && ln -s h s && mkdir d && cat s && rm f && ls -A`;
    expect(await shell(script, path)).toBe('hi\nd\nh\ns\n');
    expect(await mounts()).toContain(mountPoint);
    await workspaces.close();
    expect(await mounts()).not.toContain(mountPoint);
  });

  it('serves programs if the device cannot be cloned', async () => {
    const bin = await mkdtemp(join(tmpdir(), 'no-perl-'));
    await writeFile(join(bin, 'perl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const { PATH } = process.env;
    process.env.PATH = `${bin}:${PATH}`;
    try {
      const { workspaces } = await start();
      const path = await workspaces.attach(spec('sb_1'));
      expect(await shell('cd "$1" && echo hi > f && cat f', path)).toBe('hi\n');
    } finally {
      process.env.PATH = PATH;
      await rm(bin, { recursive: true });
    }
  });

  it('preserves names that are not UTF-8', async () => {
    const { workspaces } = await start();
    const path = await workspaces.attach(spec('sb_1'));
    const name = await shell(`cd "$1" && : > "$(printf 'a\\377b')" && ls | od -An -tx1`, path);
    expect(name.trim()).toBe('61 ff 62 0a');
  });

  it('refuses names longer than 255 bytes with ENAMETOOLONG', async () => {
    const { workspaces } = await start();
    const path = await workspaces.attach(spec('sb_1'));
    await expect(shell(`LC_ALL=C ls "$1/$2"`, path, 'x'.repeat(256))).rejects.toThrow(/File name too long/);
  });

  it('does not interleave the appends of many writers', async () => {
    const { workspaces } = await start();
    const path = await workspaces.attach(spec('sb_1'));
    const writer = 'i=0; while [ $i -lt 100 ]; do echo "line of a writer" >> "$1/log"; i=$((i+1)); done';
    await Promise.all(Array.from({ length: 8 }, () => shell(writer, path)));
    expect(await shell('sort "$1/log" | uniq -c', path)).toMatch(/^\s*800 line of a writer\n$/);
  });

  it('returns the dirty pages of a mapped file', async () => {
    const { workspaces } = await start();
    const path = await workspaces.attach(spec('sb_1'));
    const script = `import mmap,sys
f=open(sys.argv[1],'w+b'); f.truncate(8192); m=mmap.mmap(f.fileno(),8192); m[4096:4099]=b'abc'; m.flush(); m.close(); f.close()
print(open(sys.argv[1],'rb').read()[4096:4099])`;
    expect(await shell('python3 -c "$1" "$2/m"', script, path)).toBe("b'abc'\n");
  });

  it('answers control requests in order while idle and under load', async () => {
    const { workspaces } = await start();
    const path = await workspaces.attach(spec('sb_1'));
    await workspaces.usage('sb_1');
    let loading = true;
    const script = 'cd "$1"; i=0; while [ $i -lt 300 ]; do echo $i > f$i; cat f$i; rm f$i; i=$((i+1)); done';
    const load = shell(script, path).finally(() => {
      loading = false;
    });
    let answered = 0;
    while (loading) {
      const order: number[] = [];
      await Promise.all([0, 1, 2, 3].map((n) => workspaces.usage('sb_1').then(() => order.push(n))));
      expect(order).toEqual([0, 1, 2, 3]);
      answered += 4;
    }
    await load;
    expect(answered).toBeGreaterThan(0);
  });

  it('delivers a ServiceError of the file system with its code, message and details', async () => {
    const { workspaces } = await start();
    await expect(workspaces.setRules('nobody', [])).rejects.toMatchObject({
      name: 'ServiceError',
      code: 'INVALID_ARGUMENT',
      message: 'permissions[0]: nobody',
      details: [{ id: 'nobody' }],
    });
  });

  it('continues after an exception in a control request', async () => {
    const { workspaces } = await start();
    await expect(workspaces.baseChanging('cb', [fromText('crash')])).rejects.toThrow('a defect');
    await workspaces.usage('');
  });

  it('answers a request with EIO after an exception, and reports the exception once', async () => {
    const { workspaces, logged } = await start();
    const path = await workspaces.attach(spec('sb_1'));
    for (let i = 0; i < 2; i++) await expect(shell('LC_ALL=C ls "$1/defect"', path)).rejects.toThrow(/Input\/output/);
    await workspaces.usage('sb_1');
    expect(logged).toHaveLength(1);
  });

  it('refuses a workspace id that is not one path component', async () => {
    const { workspaces } = await start();
    for (const id of ['', '.', '..', 'a/b', 'a\0b'])
      await expect(workspaces.attach(spec(id))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('rejects every call with UNAVAILABLE after close', async () => {
    const { workspaces } = await start();
    await workspaces.close();
    await expect(workspaces.usage('sb_1')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(workspaces.attach(spec('sb_1'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('closes while programs have open files and working directories in it', async () => {
    const { workspaces, mountPoint } = await start();
    const path = await workspaces.attach(spec('sb_1'));
    const holder = spawn('/bin/sh', ['-c', 'cd "$1" && exec 3> held && echo up >&3 && exec sleep 60', 'sh', path]);
    while (!(await shell('cat "$1/held" 2>/dev/null || :', path)).includes('up'));
    await workspaces.close();
    expect(await mounts()).not.toContain(mountPoint);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  });

  it('forgets every node that the kernel has forgotten', async () => {
    const { workspaces } = await start();
    const path = await workspaces.attach(spec('sb_1'));
    await shell('cd "$1" && for i in 1 2 3; do mkdir d$i; for j in 1 2 3 4; do : > d$i/f$j; done; done; find .', path);
    expect((await workspaces.usage('')).files).toBeGreaterThan(15);
    await shell('rm -r "$1"/d1; sync; echo 2 > /proc/sys/vm/drop_caches', path);
    const deadline = Date.now() + 30_000;
    while ((await workspaces.usage('')).files > 0 && Date.now() < deadline)
      await shell('echo 2 > /proc/sys/vm/drop_caches');
    // The root, the workspace and two directories of four files each remain, all with a lookup count of 0.
    expect(await workspaces.usage('')).toEqual({ bytes: 12, files: 0 });
  });
});
