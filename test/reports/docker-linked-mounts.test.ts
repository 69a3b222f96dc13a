import { afterAll, beforeAll, expect, it } from 'vitest';
import { Server, State } from '../contract/server.ts';
import { type Daemon, startDaemon } from '../docker/daemon.ts';
import { importImage } from '../docker/images.ts';
import { Api } from '../server/api.ts';

const WRITE = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }];

let dockerd: Daemon;
let state: State;
let server: Server;

beforeAll(async () => {
  dockerd = await startDaemon();
  const links = { '/workspace': ['../../link'] };
  await importImage(dockerd.docker, 'linked', { programs: ['sh', 'env'], links, changes: ['VOLUME /link/volume'] });
  state = await State.create();
  const config = { runtime: { docker: { host: dockerd.host, default_image: 'linked' } } };
  server = await Server.start(state, { runtime: 'docker', config });
});

afterAll(async () => {
  await server?.stop();
  await state?.remove();
  await dockerd?.stop();
});

it('a volume that leads into the workspace by a link of the image is not made there: the sandbox is refused', async () => {
  const api = new Api(server.httpAddress);
  const { body } = await api.post('/v1/sandboxes', { codebase_id: await api.codebase(), permissions: WRITE });
  expect(body).toMatchObject({ code: 9, message: expect.stringMatching(/"\/link\/volume".*permission denied/) });
});
