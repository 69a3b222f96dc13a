import { statfsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UploadRoom } from '../../lib/host-tree/upload-room.ts';
import { diskRoom } from '../../lib/linux/disk-room.ts';
import { mount, unmount } from '../../lib/linux/mount.ts';
import { growthOf } from '../../lib/workspaces/delta/disk-share.ts';
import { eventually, expectRefusal, Scene } from '../contract/scene.ts';
import { Server, State } from '../contract/server.ts';
import { busybox, tarOf } from '../lib/images/archives.ts';

const MIB = 1 << 20;
const DISK = 128 * MIB;
/** As `auto` makes it. */
const RESERVE = DISK / 20;

describe('the reserve of the disk', () => {
  let state: State;
  let server: Server;
  let scene: Scene;

  beforeEach(async () => {
    state = await State.create();
    await mount({ type: 'tmpfs', options: `size=${DISK},mode=0711`, source: 'tmpfs', mountPoint: state.directory });
    server = await Server.start(state);
    scene = new Scene(server, state, 'bwrap', 'rest');
  });

  afterEach(async () => {
    await scene.close();
    await server.stop();
    await unmount(state.directory, 'force');
    const left = await state.leftovers();
    await state.remove();
    expect(left).toEqual([]);
  });

  const free = () => {
    const { bavail, bsize } = statfsSync(state.directory);
    return bavail * bsize;
  };

  /** Each way to fill the disk, until it is refused. */
  const FILLS: Readonly<Record<string, string>> = {
    'a large file': 'cat /dev/zero > fill',
    'small files': 'i=0; while head -c 60000 /dev/zero > f$i; do i=$((i + 1)); done',
    'mapped memory': `exec python3 -I -c "
import mmap, os, sys
for i in range(200):
    fd = os.open(f'm{i}', os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 1 << 20)
    m = mmap.mmap(fd, 1 << 20)
    m.write(b'x' * (1 << 20))
    m.flush()
"`,
  };

  it.each(Object.entries(FILLS))('keeps a disk usable that one sandbox fills by %s', async (_, fill) => {
    const codebase = await scene.codebase({ stored: 'stored\n' });
    const [one, other] = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
    const filled = await scene.run(one, `exec 2>&1; ${fill}`);
    expect(filled.stdout).toMatch(/Disk quota exceeded/);
    expect(free()).toBeGreaterThanOrEqual(RESERVE - MIB);
    // The largest is refused, and the others go on.
    expect((await scene.run(one, 'head -c 1M /dev/zero > more')).stderr).toMatch(/Disk quota exceeded/);
    await scene.output(other, 'echo four > small; head -c 1M /dev/zero > large; echo x >> stored; mkdir d; mv small d');
    expect(await scene.output(other, 'cat d/small stored; wc -c < large')).toBe('four\nstored\nx\n1048576\n');
    await eventually('the log', async () =>
      server.log.find((line) => /nearly full/.test(line) && line.includes(one.id)),
    );
    // Removals make room again.
    await scene.output(one, 'rm -rf * && echo new > new');
  });

  it('refuses uploads in words, and goes on with deletions and commits', async () => {
    const codebase = await scene.codebase({ stored: 'stored\n' });
    const sandbox = await scene.sandbox(codebase);
    await scene.output(sandbox, 'echo mine > mine');
    await scene.client.upload(codebase.id, 'large', Buffer.alloc(DISK - 2 * RESERVE - 8 * MIB));
    const upload = scene.client.upload(codebase.id, 'larger', Buffer.alloc(16 * MIB));
    await expectRefusal(upload, 'RESOURCE_EXHAUSTED', /disk is nearly full.*storage\.reserve_bytes/);
    expect(free()).toBeGreaterThanOrEqual(RESERVE - MIB);
    await scene.client.call('Commit', { sandbox_id: sandbox.id });
    expect(await scene.content(codebase, 'mine')).toBe('mine\n');
    await scene.output(sandbox, 'rm large');
  });

  it('refuses archives and images in words, and keeps nothing of them', async () => {
    const codebase = await scene.codebase({ stored: 'stored\n' });
    const sandbox = await scene.sandbox(codebase);
    const before = free();
    const large = tarOf(busybox([1, 2, 3].map((n) => ({ name: `large${n}`, content: Buffer.alloc(DISK / 3) }))));
    const nearlyFull = /disk is nearly full/;
    await expectRefusal(
      scene.client.write('ImportFiles', { sandbox_id: sandbox.id, as: 'owner' }, large),
      'RESOURCE_EXHAUSTED',
      nearlyFull,
    );
    await expectRefusal(
      scene.client.write('ImportCodebaseFiles', { codebase_id: codebase.id }, large),
      'RESOURCE_EXHAUSTED',
      nearlyFull,
    );
    await expectRefusal(scene.client.write('ImportImage', { name: 'large' }, large), 'RESOURCE_EXHAUSTED', nearlyFull);
    await scene.run(sandbox, 'rm -rf large* bin');
    await eventually('the room', async () => free() > before - 4 * MIB);
    expect(await scene.content(codebase, 'stored')).toBe('stored\n');
  });

  it('keeps no more output of processes than there is room for, and the newest of it', async () => {
    const codebase = await scene.codebase({ stored: 'stored\n' });
    const { id: sandbox_id } = await scene.sandbox(codebase);
    await scene.client.upload(codebase.id, 'large', Buffer.alloc(free() - RESERVE - 3 * MIB));
    const command = 'head -c 12M /dev/zero; echo end';
    const started = await Promise.all([1, 2, 3].map(() => scene.client.call('StartProcess', { sandbox_id, command })));
    for (const { process_id } of started) {
      await eventually('its end', async () => {
        const { end } = await scene.client.call('GetProcess', { sandbox_id, process_id });
        return end;
      });
    }
    expect(free()).toBeGreaterThanOrEqual(RESERVE - MIB);
    const newest = await scene.client.call('StartProcess', { sandbox_id, command: 'echo newest' });
    const { process_id } = newest;
    await eventually('its end', async () => (await scene.client.call('GetProcess', { sandbox_id, process_id })).end);
    const { output } = await scene.client.call('ReadProcessOutput', { sandbox_id, process_id });
    expect(Buffer.from(output[0]!.data as never, 'base64' as never).toString()).toBe('newest\n');
  });

  it('refuses a checkpoint of the sandbox that holds most, until it has removed files', async () => {
    const sandbox = await scene.sandbox(await scene.codebase({ stored: 'stored\n' }));
    const checkpoint = () => scene.client.call('CreateCheckpoint', { sandbox_id: sandbox.id, name: 'c' });
    await scene.run(sandbox, 'cat /dev/zero > fill; i=0; while echo x > s$i; do i=$((i + 1)); done');
    await expectRefusal(checkpoint(), 'RESOURCE_EXHAUSTED', /disk is nearly full/);
    await scene.output(sandbox, 'rm fill s*');
    await eventually('the room', async () => free() > DISK / 2);
    expect(await checkpoint()).toMatchObject({ name: 'c' });
  });
});

it('a file system that does not tell its size has no reserve', () => {
  expect(statfsSync('/proc').blocks).toBe(0);
  for (const reserve of ['auto', MIB] as const) {
    expect(growthOf(100 * MIB, diskRoom('/proc', reserve))).toBe(Number.POSITIVE_INFINITY);
    expect(new UploadRoom('/proc', reserve).bytes).toBe(Number.POSITIVE_INFINITY);
  }
});
