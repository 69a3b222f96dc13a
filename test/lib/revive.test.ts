import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Composition, compose } from '../../lib/composition.ts';
import { loadConfig } from '../../lib/config/load.ts';
import type { PermissionRule } from '../../lib/contract/messages.ts';
import type { Log } from '../../lib/log.ts';
import type { Sandboxes } from '../../lib/services.ts';
import { State } from '../contract/server.ts';
import { bundleEntry } from './fuse/bundle-entry.ts';
import { createRequest, execRequest, never } from './sandboxes/fixture.ts';

const WRITE: PermissionRule[] = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }];
const BROKEN = /^the workspace file system died: the request worker ended$/;

let bundle: Awaited<ReturnType<typeof bundleEntry>>;
let state: State;
let server: Composition;
let sandboxes: Sandboxes;
let codebase_id: string;
const logged: string[] = [];

beforeAll(async () => {
  bundle = await bundleEntry('../breaking-entry.ts');
});
afterAll(() => bundle.remove());

beforeEach(async () => {
  state = await State.create();
  const argv = ['-config', await state.writeConfig('bwrap', {})];
  const invocation = loadConfig({ argv, env: {}, cwd: '/', root: true, home: '/' });
  if (invocation.action !== 'serve') throw new Error('not to be served');
  const note = (message: string, fields = {}) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug() {}, info() {}, warn: note, error: note };
  server = await compose(invocation.config, { ...invocation, entry: bundle.entry, log });
  sandboxes = server.services.sandboxes;
  await server.resume();
  codebase_id = (await server.services.codebases.create({ name: 'a', owner_id: 'ann' })).id;
});
afterEach(async () => {
  await server.close();
  expect(await state.leftovers()).toEqual([]);
  await state.remove();
});

async function run(id: string, command: string): Promise<string> {
  let stdout = '';
  for await (const event of await sandboxes.exec(execRequest(id, { command }), never)) {
    if (event.kind === 'output') stdout += event.data.toString();
  }
  return stdout;
}

const create = async () => (await sandboxes.create(createRequest({ codebase_id, permissions: WRITE }))).id;

it('the server restarts sandboxes after the end of the request worker, except one that ended it twice', async () => {
  const [breaking, other] = [await create(), await create()];
  await run(other, 'echo other > file');
  await run(breaking, 'echo kept > file');
  const running = expect(run(other, 'echo begun; exec sleep 1000')).rejects;

  await expect(run(breaking, 'touch end-the-worker')).rejects.toMatchObject({ code: 'UNAVAILABLE', message: BROKEN });
  await running.toMatchObject({ code: 'UNAVAILABLE', message: BROKEN });
  expect(await run(other, 'cat file')).toBe('other\n');
  expect(await run(breaking, 'cat file')).toBe('kept\n');
  expect(sandboxes.get(other)).toMatchObject({
    status: 'SANDBOX_RUNNING',
    status_reason: 'it was brought up again: the workspace file system died: the request worker ended',
  });
  expect(logged.find((line) => line.startsWith('workspace file system failed, remounting'))).toContain(
    `"serving":"${breaking}"`,
  );

  await expect(run(breaking, 'touch end-the-worker-again')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await run(other, 'cat file')).toBe('other\n');
  await expect(run(breaking, 'true')).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  expect((await sandboxes.get(breaking)).status).toBe('SANDBOX_ERROR');
  expect((await sandboxes.get(breaking)).status_reason).toMatch(/died 2 times while it served this sandbox/);
  // Its files are kept, and it can be destroyed.
  await sandboxes.destroy(breaking);
  expect(await run(await create(), 'echo new')).toBe('new\n');
});
