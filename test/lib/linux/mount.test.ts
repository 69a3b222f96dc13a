import { closeSync, mkdtempSync, openSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { mount, unmount, unmountSync } from '../../../lib/linux/mount.ts';
import { findMount } from '../../../lib/linux/mountinfo.ts';

async function tmpfs(): Promise<string> {
  const mountPoint = mkdtempSync(join(tmpdir(), 'mount test-'));
  await mount({ type: 'tmpfs', options: 'size=64k,nosuid', source: 'name', mountPoint });
  onTestFinished(async () => {
    while (await findMount(mountPoint)) await unmount(mountPoint, 'detach');
    rmdirSync(mountPoint);
  });
  return mountPoint;
}

it('mounts, and unmounts what is not in use', async () => {
  const mountPoint = await tmpfs();
  expect(await findMount(mountPoint)).toMatchObject({ type: 'tmpfs', source: 'name' });
  await unmount(mountPoint, 'force');
  expect(await findMount(mountPoint)).toBeUndefined();
});

it('detaches a mount that is in use, which "force" refuses', async () => {
  const mountPoint = await tmpfs();
  const fd = openSync(mountPoint, 'r');
  try {
    await expect(unmount(mountPoint, 'force')).rejects.toThrow(`umount ${mountPoint}: `);
    await unmount(mountPoint, 'detach');
    expect(await findMount(mountPoint)).toBeUndefined();
  } finally {
    closeSync(fd);
  }
});

it('rejects with the message of mount(8) and umount(8)', async () => {
  const mountPoint = await tmpfs();
  const unknown = mount({ type: 'no-such-type', options: 'rw', source: 'none', mountPoint });
  await expect(unknown).rejects.toThrow(`mount on ${mountPoint}: `);
  await expect(unmount(join(mountPoint, 'absent'), 'detach')).rejects.toThrow(/^umount .*: .+/);
});

it('unmounts while the thread waits, and ignores a failure', async () => {
  const mountPoint = await tmpfs();
  unmountSync(mountPoint, 'detach');
  expect(await findMount(mountPoint)).toBeUndefined();
  expect(() => unmountSync(mountPoint, 'force', 5000)).not.toThrow();
});
