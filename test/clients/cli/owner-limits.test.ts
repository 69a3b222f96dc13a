import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { serverOfFile } from '../../contract/use-server.ts';
import { cli } from './cli.ts';

const served = serverOfFile({ config: { auth: { mode: 'keys' } } });
let admin: string;

beforeAll(async () => {
  const config = join(served.state.directory, 'server.yaml');
  admin = (await cli(['key', 'create', '--admin', '-config', config])).stdout.trim();
});

const as = (key: string, ...args: string[]) => cli(args, { url: served.url, env: { PADDOCK_KEY: key } });

it('an admin sets limits of an owner one by one, and the owner sees them', async () => {
  const set = await as(admin, 'limits', 'set', 'ann', '--sandboxes', '2', '--memory', '4g', '--cpus', '1.5');
  expect(set.stdout).toMatch(/^LIMIT +VALUE +FROM\nsandboxes +2 +set\n/);
  await as(admin, 'limits', 'set', 'ann', '--codebases', '5');
  const ann = (await as(admin, 'key', 'create', '--owner', 'ann')).stdout.trim();
  const { stdout } = await as(ann, 'limits', 'get', '--json');
  expect(JSON.parse(stdout).set).toEqual({
    sandboxes: 2,
    memoryBytes: 4 * 1024 ** 3,
    cpuQuota: 150_000,
    codebases: 5,
  });
  expect((await as(ann, 'limits', 'set', 'ann', '--sandboxes', '9')).stderr).toMatch(/role|admin/);
});

it('"default" is the configured limit again, and what is no number is refused', async () => {
  await as(admin, 'limits', 'set', 'bob', '--sandboxes', '2');
  const { stdout } = await as(admin, 'limits', 'set', 'bob', '--sandboxes', 'default');
  expect(stdout).toMatch(/^sandboxes +\d+ +configuration$/m);
  expect((await as(admin, 'limits', 'set', 'bob', '--cpus', 'two')).stderr).toMatch(/--cpus is like 2 or 1.5/);
});
