import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, expect, it } from 'vitest';
import { bundleEntry } from './bundle-entry.ts';
import { mounted } from './mounted.ts';

const bundle = await bundleEntry('worker-entry.ts');
afterAll(bundle.remove);

/** Returns the niceness of every thread of this process: field 19 of https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function niceness(): number[] {
  return readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

it('only the request worker gets the priority of the programs that use the mount', async () => {
  const own = getPriority();
  const ofPrograms = own + 3;
  const mount = await mounted(bundle.entry, { niceness: ofPrograms });
  try {
    const { length } = niceness();
    expect(niceness().filter((nice) => nice === ofPrograms)).toHaveLength(1);
    expect(niceness().filter((nice) => nice === own)).toHaveLength(length - 1);
  } finally {
    await mount.remove();
  }
});
