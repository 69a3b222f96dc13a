import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../docker/daemon.ts';
import { importImage } from '../docker/images.ts';
import { openScene, type Scene } from '../lib/runtime/docker/sandbox.ts';

let dockerd: Daemon;
let scene: Scene;

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'base', { programs: ['sh', 'env', 'sleep'] });
});
afterAll(() => dockerd?.stop());
beforeEach(async () => {
  scene = await openScene(dockerd);
});
afterEach(() => scene?.end());

it('a container that somebody else gave the name of a sandbox is not removed, and the launch says so', async () => {
  await (await scene.launch()).stop();
  const instance = (await readFile(join(scene.directory, 'state', 'docker-instance'), 'latin1')).trim();
  const spec = await scene.spec();
  const name = `paddock-${instance}-${spec.id}`;
  const stranger = await dockerd.docker.createContainer({ name, Image: 'base', Entrypoint: ['/bin/sleep', '600'] });

  await expect(scene.launch(spec)).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringContaining(name),
  });
  expect((await stranger.inspect()).Id).toBe(stranger.id);
  await stranger.remove({ force: true });
});
