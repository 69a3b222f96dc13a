import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
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

it('only the request worker gets a higher priority, if that is permitted', async () => {
  const allowed = Number(execFileSync('nice', ['-n', '-14', 'nice'], { stdio: ['ignore', 'pipe', 'ignore'] }));
  const others = niceness();
  const mount = await mounted(bundle.entry);
  try {
    const expected = allowed < 0 ? 1 : 0;
    expect(others.filter((nice) => nice === -14)).toHaveLength(0);
    expect(niceness().filter((nice) => nice === -14)).toHaveLength(expected);
  } finally {
    await mount.remove();
  }
});
