import { accessSync, constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterAll, expect, it } from 'vitest';
import { findMount } from '../../../lib/linux/mountinfo.ts';
import { bundleEntry } from './bundle-entry.ts';
import { mounted } from './mounted.ts';

const bundle = await bundleEntry('worker-entry.ts');
afterAll(bundle.remove);

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

it('the kernel reads ahead by megabytes if sysfs can be written', async () => {
  const mount = await mounted(bundle.entry);
  try {
    const setting = `/sys/class/bdi/${(await findMount(mount.mountPoint))?.device}/read_ahead_kb`;
    if (isWritable(setting)) expect((await readFile(setting, 'latin1')).trim()).toBe('4096');
  } finally {
    await mount.remove();
  }
});
