import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Daemon as DaemonClient } from '../../../../lib/runtime/docker/daemon.ts';
import { type Daemon, startDaemon } from '../../../docker/daemon.ts';
import { importImage } from '../../../docker/images.ts';
import { openScene, type Scene, sh } from './sandbox.ts';

/** Short, because most tests wait for one of them. */
const TIMES = { callMs: 3000, pullMs: 3000, startMs: 5000, removeMs: 1500, retryMs: 50 };
/** For launches alone: on a busy machine a daemon that has just started takes longer. */
const LONG = { ...TIMES, callMs: 20_000, pullMs: 20_000, startMs: 30_000 };

let dockerd: Daemon;
let scene: Scene;

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'base', { programs: ['sh', 'sleep', 'env'] });
});
afterAll(() => dockerd?.stop());
beforeEach(async () => {
  scene = await openScene(dockerd, { times: TIMES });
});
afterEach(() => scene?.end());

async function withLongTimes(): Promise<void> {
  await scene.end();
  scene = await openScene(dockerd, { times: LONG });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('not within 20 s');
    await delay(20);
  }
}

const noContainers = async () => (await dockerd.docker.listContainers({ all: true })).length === 0;

describe('while the daemon is not running', () => {
  it('a launch fails, and the same runtime works when the daemon is back', async () => {
    await withLongTimes();
    await dockerd.shutdown();
    await expect(scene.runtime.probe()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(scene.launch()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/ENOENT|ECONNREFUSED/),
    });
    await dockerd.start();
    await scene.runtime.probe();
    expect((await sh(await scene.launch(), 'echo back')).stdout).toBe('back\n');
  });

  it('a sandbox can be stopped, and its container is removed when the daemon is back', async () => {
    const sandbox = await scene.launch();
    await dockerd.kill();
    await sandbox.stop();
    await dockerd.start();
    await until(noContainers);
  });

  it('the end of each sandbox is reported after the daemon is back and has ended them', async () => {
    await withLongTimes();
    const [one, other] = await Promise.all([scene.launch(), scene.launch()]);
    await dockerd.kill();
    await dockerd.start();
    expect(await one.exited).toMatch(/^its container ended/);
    expect(await other.exited).toMatch(/^its container ended/);
  });
});

describe('while the daemon hangs', () => {
  it('running commands continue, and a launch fails within its limit and leaves nothing', async () => {
    const sandbox = await scene.launch();
    const calls = vi.spyOn(DaemonClient.prototype, 'call');
    dockerd.pause();
    try {
      expect((await sh(sandbox, 'echo on')).stdout).toBe('on\n');
      await expect(scene.launch()).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('no answer within'),
      });
      // The daemon is not asked a second time, about a container that it never was to create.
      const asked = calls.mock.calls.map(([{ doing }]) => doing);
      expect(asked.filter((doing) => doing !== 'listing containers')).toEqual(['looking for image base']);
    } finally {
      dockerd.resume();
      calls.mockRestore();
    }
    await sandbox.stop();
    await until(noContainers);
  });

  it('a container whose creation was never answered is found and removed', async () => {
    const spec = await scene.spec();
    // The image is known; the daemon stops answering at the request to create.
    const launching = scene.runtime.launch(spec);
    launching.catch(() => undefined);
    await until(async () => (await dockerd.docker.listContainers({ all: true })).length > 0);
    dockerd.pause();
    const failure = await launching.then(
      async (sandbox) => sandbox.stop(),
      (error: unknown) => error,
    );
    dockerd.resume();
    if (failure !== undefined) expect(failure).toMatchObject({ code: 'UNAVAILABLE' });
    await until(noContainers);
  });
});

it('a container that the daemon creates for a killed server after its list is removed later', async () => {
  const sandbox = await scene.launch();
  const [found] = await dockerd.docker.listContainers();
  const { Labels, Image } = found!;
  await sandbox.stop();
  await until(noContainers);
  await scene.runtime.reclaim();
  const name = `paddock-${Labels['io.paddock.instance']}-late`;
  await dockerd.docker.createContainer({ name, Image, Labels, Cmd: ['/bin/sh'] });
  await until(noContainers);
});
