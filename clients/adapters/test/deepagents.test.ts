import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { createDeepAgent } from 'deepagents';
import { Sandbox } from 'paddock-sandbox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PaddockBackend } from '../src/deepagents.ts';

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, n) => n);
const bytes = (text: string) => new TextEncoder().encode(text);
let sandbox: Sandbox;
let backend: PaddockBackend;
beforeAll(async () => {
  sandbox = await Sandbox.create({ rules: { write: ['**'], read: ['kept'], none: ['secrets'] } });
  await sandbox.files.asOwner().write('secrets/key', 'hidden');
  await sandbox.files.asOwner().write('kept/k.txt', 'kept\n');
  backend = new PaddockBackend(sandbox);
});
afterAll(() => sandbox.destroy());

it('executes commands, and says what it cut', async () => {
  expect(await backend.execute('echo a; echo b >&2; exit 3')).toEqual({
    output: 'a\nb\n',
    exitCode: 3,
    truncated: false,
  });
  const cut = await backend.execute('head -c 3000000 /dev/zero | tr "\\0" x');
  expect([cut.truncated, cut.output.includes('[2000000 characters of output left out]')]).toEqual([true, true]);
  const late = await backend.execute('echo begun; sleep 1000', { timeout: 1 });
  expect(late).toEqual({ output: 'begun\n\n[killed after 1 seconds]', exitCode: null, truncated: false });
});

it('kills commands by its signal', async () => {
  const abort = new AbortController();
  const execution = new PaddockBackend(sandbox, { signal: abort.signal }).execute('touch begun; sleep 1000');
  await expect.poll(() => sandbox.files.exists('begun')).toBe(true);
  abort.abort(new Error('enough'));
  await expect(execution).rejects.toThrow('enough');
  expect(await Array.fromAsync(sandbox.processes({ running: true }))).toEqual([]);
});

it('transfers files, each with its own result', async () => {
  const paths = ['/workspace/d/all.bin', '/tmp/all.bin'];
  const uploads = [
    ...paths,
    '/workspace/kept/k.txt',
    '/workspace/d',
    '/tmp',
    '/etc/x',
    '/workspace/a\0b',
    '/workspace',
    `${paths[0]}/x`,
  ];
  const uploaded = await backend.uploadFiles(uploads.map((path) => [path, ALL_BYTES]));
  expect(uploaded.map(({ error }) => error)).toEqual([
    null,
    null,
    'permission_denied',
    'is_directory',
    'is_directory',
    'permission_denied',
    'invalid_path',
    'is_directory',
    'invalid_path',
  ]);
  await backend.execute('ln -s /etc/hosts directory');
  const downloaded = await backend.downloadFiles([
    ...paths,
    '/workspace/secrets/key',
    '/tmp/none',
    '/tmp',
    '/workspace/d',
    '/workspace/directory',
  ]);
  expect(downloaded.slice(0, 2).map(({ content }) => content && new Uint8Array(content))).toEqual([
    ALL_BYTES,
    ALL_BYTES,
  ]);
  expect(downloaded.slice(2).map(({ error }) => error)).toEqual([
    'file_not_found',
    'file_not_found',
    'is_directory',
    'is_directory',
    'invalid_path',
  ]);
});

// The groups of deepagents' standard tests for sandboxes, which the registry does not have.
it('has the file operations of its base class', async () => {
  const path = '/workspace/dir with space/f.txt';
  expect(await backend.write(path, 'one\ntwo $(x)\none\n')).toMatchObject({ path });
  expect(await backend.read(path, 1, 1)).toMatchObject({ content: expect.stringMatching(/^ *2\ttwo \$\(x\)\n$/) });
  expect((await backend.read('/workspace/none')).error).toMatch(/not found/);
  expect((await backend.edit(path, 'one', 'ONE')).error).toMatch(/multiple|appears|occurrences/i);
  expect(await backend.edit(path, 'one', "O'N'E", true)).toMatchObject({ occurrences: 2 });
  expect(await backend.grep("O'N'E", '/workspace')).toMatchObject({
    matches: [
      { path, line: 1 },
      { path, line: 3 },
    ],
  });
  expect((await backend.ls('/workspace')).files?.map((file) => file.path)).not.toContain('/workspace/secrets');
  expect((await backend.glob('**/*.txt', '/workspace')).files?.length).toBe(2);
  expect((await backend.write('/workspace/kept/k.txt', 'x')).error).toMatch(/permission/);
  expect(await backend.delete(path)).toMatchObject({ path });
  expect((await backend.delete(path)).error).toMatch(/not found/);
  await backend.uploadFiles([['/workspace/é\n.txt', bytes('')]]);
  expect((await backend.read('/workspace/é\n.txt')).error).toBeUndefined();
});

it('is the backend of an agent', async () => {
  const model = fakeModel()
    .respondWithTools([{ name: 'write_file', args: { file_path: '/workspace/x.txt', content: '42' } }])
    .respondWithTools([{ name: 'execute', args: { command: 'cat x.txt; cat secrets/key' } }])
    .respond(new AIMessage('done'));
  const agent = createDeepAgent({ model, backend });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] });
  expect(messages.map(({ text }) => text).join('\n')).toMatch(/42.*No such file.*done/s);
});
