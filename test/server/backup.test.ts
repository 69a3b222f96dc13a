import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RestClient } from '../contract/rest-client.ts';
import { EVERYTHING } from '../contract/rules.ts';
import { Server, State } from '../contract/server.ts';

let from: State;
let to: State;
beforeAll(async () => {
  [from, to] = [await State.create(), await State.create()];
});
afterAll(async () => {
  await from?.remove();
  await to?.remove();
});

it('a copy of the state works at another path, with other host users: sandboxes, changes, checkpoints and commits', async () => {
  const server = await Server.start(from);
  let client = new RestClient(server.httpAddress);
  const exec = async (sandbox_id: string, command: string) =>
    (await client.call('Exec', { sandbox_id, command })).stdout;
  const { id: codebase_id } = await client.call('CreateCodebase', { name: 'kept', owner_id: 'me' });
  await client.call('CreateSandbox', { codebase_id, permissions: EVERYTHING });
  const sandbox = await client.call('CreateSandbox', { codebase_id, permissions: EVERYTHING });
  const { id } = sandbox;
  await exec(id, 'mkdir src; echo one > src/a; chmod 700 src/a; ln -s a src/b; head -c 300000 /dev/zero > large');
  await client.call('Commit', { sandbox_id: id });
  await exec(id, 'echo two > src/a; rm large; echo new > n');
  await client.call('CreateCheckpoint', { sandbox_id: id, name: 'before' });
  await exec(id, 'echo three > src/a; mv n m');
  const changes = await client.call('ListChanges', { sandbox_id: id });
  client.close();
  expect(await server.stop()).toBe(0);

  const [, backup = ''] =
    /<!-- backup -->\n```sh\n([\s\S]*?)```/.exec(
      readFileSync(resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8'),
    ) ?? [];
  const script = backup
    .replaceAll(/^systemctl .*\n/gm, '')
    .replaceAll('/var/lib/paddock', from.directory)
    .replaceAll('/srv/paddock', to.directory)
    .replaceAll('/backup', to.directory);
  execFileSync('sh', ['-euc', script]);
  expect(readdirSync(to.directory)).toEqual(expect.arrayContaining(['codebases', 'mounts', 'metadata.json']));
  await from.remove();
  const restored = await Server.start(to);
  client = new RestClient(restored.httpAddress);
  try {
    // A server starts its sandboxes after it is ready.
    await expect.poll(async () => (await client.call('GetSandbox', { sandbox_id: id })).status).toBe('SANDBOX_RUNNING');
    // The copies of codebase files are other files: where the sandbox had changed one, the commit must be told whose counts.
    const listed = await client.call('ListChanges', { sandbox_id: id });
    const paths = (of: typeof changes) => of.changes.map(({ path, kind }) => `${kind} ${path}`);
    expect(paths(listed)).toEqual(paths(changes));
    expect(listed.changes.filter(({ conflict }) => conflict).map(({ path }) => path)).toEqual(['large', 'src/a']);
    expect(await exec(id, 'cat src/a src/b m; ls; stat -c %a src/a; id -u')).toBe(
      'three\nthree\nnew\nm\nsrc\n700\n1000\n',
    );
    const running = exec(id, 'sleep 1');
    await expect.poll(() => to.processes().length, { timeout: 30_000 }).toBeGreaterThan(0);
    await running;
    await client.call('Rollback', { sandbox_id: id, checkpoint: 'before' });
    expect(await exec(id, 'cat src/a n')).toBe('two\nnew\n');
    await expect(client.call('Commit', { sandbox_id: id })).rejects.toMatchObject({ code: 'ABORTED' });
    await client.call('Commit', { sandbox_id: id, on_conflict: 'ours' });
    const other = await client.call('CreateSandbox', { codebase_id, permissions: EVERYTHING });
    expect(await exec(other.id, 'cat src/b n; ls')).toBe('two\nnew\nn\nsrc\n');
  } finally {
    client.close();
    await restored.stop();
  }
  expect(await to.leftovers()).toEqual([]);
});
