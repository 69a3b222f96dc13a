import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasEnded } from '../process-status.ts';

const SCRIPT = resolve('scripts/fs-mount.mjs');
const DEADLINE_MS = 60_000;
const execute = promisify(execFile);

async function directories(): Promise<string> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'fs-mount-test-')));
  for (const name of ['base', 'delta', 'mnt']) await mkdir(join(home, name));
  await writeFile(join(home, 'base/file'), 'of the base');
  onTestFinished(async () => {
    await execute('umount', ['-l', join(home, 'mnt')]).catch(() => {});
    await rm(home, { recursive: true });
  });
  return home;
}

/** Mounts with paths relative to `home`. Returns the serving process. */
async function mount(home: string, options = ''): Promise<number> {
  const args = [SCRIPT, 'source', 'mnt', '-o', `rw,lowerdir=base,upperdir=delta,workdir=none${options}`];
  const { stdout } = await execute(process.execPath, args, { cwd: home });
  return Number(/process (\d+)/.exec(stdout)?.[1]);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + DEADLINE_MS; !(await condition()); await sleep(20))
    if (Date.now() > end) throw new Error('not in time');
}

const gone = (pid: number) => async () => hasEnded(pid);
const shell = async (home: string, script: string) =>
  (await execute('/bin/sh', ['-c', script], { cwd: home, timeout: DEADLINE_MS })).stdout;

describe('scripts/fs-mount.mjs', () => {
  it('shows the base, stores changes in the delta, and ends with the umount', async () => {
    const home = await directories();
    const first = await mount(home);
    expect(await shell(home, 'cat mnt/file && echo more >>mnt/file && mkdir mnt/new && umount mnt')).toBe(
      'of the base',
    );
    await until(gone(first));
    const second = await mount(home);
    expect(await shell(home, 'cat mnt/file && ls mnt')).toBe('of the basemore\nfile\nnew\n');
    process.kill(second, 'SIGTERM');
    await until(gone(second));
    expect(await readFile('/proc/self/mounts', 'utf8')).not.toContain(home);
    expect(await readFile(join(home, 'base/file'), 'utf8')).toBe('of the base');
  }, 120_000);

  it('obeys rules from a file', async () => {
    const home = await directories();
    const rules = [{ pattern: '/file', permission: 'PERMISSION_VIEW', type: 'PATTERN_FILE', priority: 0 }];
    await writeFile(join(home, 'rules.json'), JSON.stringify(rules));
    const pid = await mount(home, ',rules=rules.json');
    expect(await shell(home, 'ls mnt; cat mnt/file 2>&1 || :')).toMatch(/^file\n.*Permission denied\n$/);
    process.kill(pid, 'SIGTERM');
    await until(gone(pid));
  }, 120_000);

  it('refuses to start without base and delta', async () => {
    const home = await directories();
    await expect(execute(process.execPath, [SCRIPT, join(home, 'mnt')])).rejects.toThrow(
      'lowerdir=BASE,upperdir=DELTA',
    );
  });
});
