import { access, readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasEnded } from '../process-status.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { importImage } from './images.ts';

async function traces(root: string): Promise<string[]> {
  const found: string[] = [];
  await access(root).then(
    () => found.push(root),
    () => undefined,
  );
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  found.push(...mounts.split('\n').filter((line) => line.includes(root)));
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && !hasEnded(Number(name)))) {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
    const cgroup = (await read('cgroup')).includes(basename(root));
    if (cgroup || (await read('cmdline')).includes(`${root}/`)) found.push(`process ${pid}`);
  }
  for (const hierarchy of ['', ...(await readdir('/sys/fs/cgroup'))]) {
    const path = `/sys/fs/cgroup/${hierarchy}/${basename(root)}`;
    await access(path).then(
      () => found.push(path),
      () => undefined,
    );
  }
  return found;
}

describe('a private Docker daemon', () => {
  let daemon: Daemon;

  beforeEach(async () => {
    daemon = await startDaemon();
  });
  afterEach(() => daemon.stop());

  async function runSleeper(): Promise<void> {
    await importImage(daemon.docker, 'sleeper', { programs: ['sleep'] });
    const container = await daemon.docker.createContainer({ Image: 'sleeper', Cmd: ['/bin/sleep', '600'] });
    await container.start();
  }

  it("runs a container from an image of this machine's programs, and leaves nothing when it is stopped", async () => {
    await runSleeper();
    expect(await daemon.docker.listContainers()).toHaveLength(1);
    await daemon.stop();
    expect(await traces(daemon.root)).toEqual([]);
  });

  it('leaves nothing after it was killed with a running container', async () => {
    await runSleeper();
    await daemon.kill();
    await daemon.stop();
    expect(await traces(daemon.root)).toEqual([]);
  });
});
