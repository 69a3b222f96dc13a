import { compute } from 'computesdk';
import { NotFoundError, Paddock, Sandbox } from 'paddock-sandbox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { paddock } from '../src/computesdk.ts';

const provider = paddock({ sandbox: { rules: { write: ['**'], read: ['kept'], none: ['secrets'] } } });
let sandbox: Awaited<ReturnType<typeof compute.sandbox.create>>;
beforeAll(async () => {
  compute.setConfig({ provider });
  sandbox = await compute.sandbox.create({ envs: { A: 'b' }, metadata: { of: 'computesdk' }, timeout: 600_000 });
});
afterAll(() => sandbox.destroy());

it('finds and describes sandboxes', async () => {
  const info = await sandbox.getInfo();
  expect(info).toMatchObject({
    provider: 'paddock',
    status: 'running',
    timeout: 600_000,
    metadata: { of: 'computesdk' },
  });
  expect((await compute.sandbox.getById(info.id))?.sandboxId).toBe(info.id);
  expect(await compute.sandbox.getById('none')).toBeNull();
  expect((await provider.sandbox.list()).map(({ sandboxId }) => sandboxId)).toContain(info.id);
  await expect(compute.sandbox.create({ snapshotId: 's' })).rejects.toThrow(/snapshotId/);
});

it('runs commands', async () => {
  const result = await sandbox.runCommand('echo $A$C; pwd; echo no >&2; exit 3', { cwd: '/tmp', env: { C: 'd' } });
  expect(result).toMatchObject({ stdout: 'bd\n/tmp\n', stderr: 'no\n', exitCode: 3 });
  await expect(sandbox.runCommand('sleep 1000', { timeout: 1000 })).rejects.toThrow(/killed after 1000 ms/);
  const pieces: string[] = [];
  const streamed = await sandbox.runCommand('echo one; exit 2', { onStdout: (text) => pieces.push(text) });
  expect([pieces, streamed.exitCode]).toEqual([['one\n'], 2]);
  // No limit of time of the server's commands: it is a process, too.
  const late = sandbox.runCommand('echo two; sleep 1000', { timeout: 1000, onStdout: (text) => pieces.push(text) });
  await expect(late).rejects.toThrow(/killed after 1000 ms/);
  expect(pieces).toEqual(['one\n', 'two\n']);
  await sandbox.runCommand('sleep 1000', { background: true });
  // Its shell becomes the program a moment later.
  await expect.poll(async () => (await sandbox.runCommand('ps -e -o comm=; true')).stdout).toMatch(/sleep/);
});

it.each(['/workspace/d', '/tmp/d'])('has files under its rules: %s', async (directory) => {
  const { filesystem } = sandbox;
  await filesystem.mkdir(directory);
  await filesystem.writeFile(`${directory}/a 'b'.txt`, 'é\n');
  expect(await filesystem.readFile(`${directory}/a 'b'.txt`)).toBe('é\n');
  expect(await filesystem.readdir(directory)).toMatchObject([{ name: "a 'b'.txt", type: 'file' }]);
  expect(await filesystem.exists(directory)).toBe(true);
  await filesystem.remove(directory);
  expect(await filesystem.exists(directory)).toBe(false);
  await expect(filesystem.readFile(`${directory}/none`)).rejects.toThrow();
  await expect(filesystem.writeFile('/workspace/kept', 'x')).rejects.toThrow();
});

it('has URLs for servers in it, which stay the same until the port is closed', async () => {
  await sandbox.filesystem.writeFile('/workspace/site/index.html', 'shown');
  await sandbox.runCommand('python3 -m http.server 8000 --bind 127.0.0.1 -d site', { background: true });
  const own = await Sandbox.connect(sandbox.sandboxId);
  await own.ports.wait(8000);
  const url = await sandbox.getUrl({ port: 8000 });
  expect(await (await fetch(url)).text()).toBe('shown');
  expect(await sandbox.getUrl({ port: 8000, protocol: 'ws' })).toBe(url.replace(/^http/, 'ws'));
  await own.ports.close(8000);
  expect((await fetch(url)).status).toBe(404);
  expect(await (await fetch(await sandbox.getUrl({ port: 8000 }))).text()).toBe('shown');
  await expect(sandbox.getUrl({ port: 0 })).rejects.toThrow(/port/);
});

it('destroys a sandbox, and the codebase made for it', async () => {
  const made = await compute.sandbox.create();
  const { codebaseId } = (await Sandbox.connect(made.sandboxId)).info;
  await compute.sandbox.destroy(made.sandboxId);
  await expect(Sandbox.connect(made.sandboxId)).rejects.toThrow(NotFoundError);
  await expect(new Paddock().codebases.get(codebaseId)).rejects.toThrow(NotFoundError);
  await compute.sandbox.destroy(made.sandboxId);
});

it('destroys no codebase that it did not make', async () => {
  const { codebases, sandboxes } = new Paddock();
  const codebase = await codebases.create({ name: 'mine' });
  const { id } = await sandboxes.create({ codebase: codebase.id, preset: 'development' });
  await compute.sandbox.destroy(id);
  expect((await codebases.get(codebase.id)).name).toBe('mine');
  await codebases.delete(codebase.id);
});
