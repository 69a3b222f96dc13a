import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { NotFoundError, Paddock, PermissionDeniedError, Sandbox } from 'paddock-sandbox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { sandboxProvider, sandboxSession } from '../src/ai-sdk/index.ts';

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, n) => n);
let sandbox: Sandbox;
let session: ReturnType<typeof sandboxSession>;
beforeAll(async () => {
  sandbox = await Sandbox.create({ rules: { write: ['**'], read: ['kept'], none: ['secrets'] } });
  await sandbox.files.asOwner().write('secrets/key', 'hidden');
  await sandbox.files.asOwner().write('kept/k.txt', 'kept\n');
  session = sandboxSession(sandbox);
});
afterAll(() => sandbox.destroy());

const text = (stream: ReadableStream<Uint8Array>) => new Response(stream).text();

it.each(['a/b.bin', '/tmp/c/d.bin'])('keeps bytes exactly: %s', async (path) => {
  await session.writeBinaryFile({ path, content: ALL_BYTES });
  expect(await session.readBinaryFile({ path })).toEqual(expect.objectContaining(ALL_BYTES));
  await session.writeFile({ path, content: new Blob(['ab', 'c']).stream() as ReadableStream<Uint8Array> });
  expect(await text((await session.readFile({ path }))!)).toBe('abc');
  expect(await session.stat({ path })).toEqual({ type: 'file', size: 3 });
  const directory = path.slice(0, path.lastIndexOf('/'));
  expect(await session.stat({ path: directory })).toMatchObject({ type: 'directory' });
  expect(await session.listDirectory({ path: directory })).toEqual([{ name: path.slice(-5), type: 'file' }]);
  await expect(session.deleteFile({ path: directory })).rejects.toThrow(/directory/);
  expect([await session.deleteFile({ path }), await session.deleteFile({ path })]).toEqual([true, false]);
  for (const method of [session.readFile, session.readTextFile, session.stat, session.listDirectory] as const) {
    expect(await method({ path })).toBeNull();
  }
});

it('lists every name outside of the workspace, too', async () => {
  const names = ['-e', '.hidden', '..two', '*', 'a b', 'é\n'];
  for (const name of names) await session.writeTextFile({ path: `/tmp/odd/${name}`, content: '' });
  await session.run({ command: 'ln -s nowhere link; mkdir sub; mkfifo pipe', workingDirectory: '/tmp/odd' });
  const found = (await session.listDirectory({ path: '/tmp/odd' }))!.map(({ name, type }) => `${name} ${type}`);
  const all = [...names.map((name) => `${name} file`), 'link symlink', 'sub directory', 'pipe other'];
  expect(found.sort()).toEqual(all.sort());
  expect(await session.listDirectory({ path: '/tmp/odd/sub' })).toEqual([]);
  await expect(Promise.resolve(session.listDirectory({ path: '/tmp/odd/-e' }))).rejects.toThrow();
});

it('reads lines and encodings', async () => {
  await session.writeTextFile({ path: 'lines', content: 'one\r\ntwo\nthree' });
  const lines = (startLine?: number, endLine?: number) =>
    session.readTextFile({ path: 'lines', ...(startLine && { startLine }), ...(endLine && { endLine }) });
  expect(await lines(2)).toBe('two\nthree');
  expect(await lines(1, 1)).toBe('one\r\n');
  expect(await lines(3, 99)).toBe('three');
  await session.writeTextFile({ path: 'utf16', content: 'é', encoding: 'utf16le' });
  expect(await session.readTextFile({ path: 'utf16', encoding: 'utf-16le' })).toBe('é');
});

it('obeys the rules', async () => {
  expect(await session.readTextFile({ path: 'secrets/key' })).toBeNull();
  expect(await session.readTextFile({ path: 'kept/k.txt' })).toBe('kept\n');
  const written = session.writeTextFile({ path: 'kept/k.txt', content: 'x' });
  await expect(written).rejects.toThrow(PermissionDeniedError);
  await expect(session.writeTextFile({ path: '/etc/x', content: 'x' })).rejects.toThrow(/permission denied/);
});

it('runs commands, and kills them when they are aborted', async () => {
  const env = { A: 'b c' };
  const result = await session.run({ command: 'echo $A; pwd >&2; exit 3', workingDirectory: '/tmp', env });
  expect(result).toEqual({ exitCode: 3, stdout: 'b c\n', stderr: '/tmp\n' });
  // A character that the end of the command cuts.
  expect((await session.run({ command: "printf 'x\\303'" })).stdout).toBe('x\ufffd');
  const abort = new AbortController();
  const run = session.run({ command: 'touch began; sleep 1000', abortSignal: abort.signal });
  await expect.poll(() => sandbox.files.exists('began')).toBe(true);
  abort.abort(new Error('enough'));
  await expect(run).rejects.toThrow('enough');
  expect(await Array.fromAsync(sandbox.processes({ running: true }))).toEqual([]);
});

it('spawns processes with streams', async () => {
  const cat = await session.spawn({ command: 'echo err >&2; cat; exit 4', stdin: true });
  const writer = cat.stdin.getWriter();
  await writer.write(ALL_BYTES);
  await writer.close();
  expect(await cat.wait()).toEqual({ exitCode: 4 });
  const bytes = new Uint8Array(await new Response(cat.stdout).arrayBuffer());
  expect([bytes, await text(cat.stderr)]).toEqual([ALL_BYTES, 'err\n']);
  const endless = await session.spawn({ command: 'yes' });
  const reader = endless.stdout.getReader();
  await reader.read();
  await Promise.all([endless.kill(), endless.kill()]);
  expect((await endless.wait()).exitCode).toBe(137);
  await endless.kill();
  await reader.cancel();
  const abort = new AbortController();
  const aborted = await session.spawn({ command: 'sleep 1000', abortSignal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(aborted.wait()).rejects.toThrow('enough');
});

it('is the sandbox of a tool of a model', async () => {
  const usage = { inputTokens: {}, outputTokens: {} } as never;
  const call = { type: 'tool-call', toolCallId: '1', toolName: 'shell', input: '{"command":"echo 42"}' } as const;
  const model = new MockLanguageModelV4({
    doGenerate: [
      { content: [call], finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] },
      {
        content: [{ type: 'text', text: 'done' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
  const shell = tool({
    description: 'run',
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }, { experimental_sandbox, abortSignal }) =>
      experimental_sandbox!.run({ command, ...(abortSignal && { abortSignal }) }),
  });
  const result = await generateText({
    model,
    prompt: 'go',
    tools: { shell },
    stopWhen: isStepCount(3),
    experimental_sandbox: session,
  });
  expect([result.text, result.steps[0]?.toolResults[0]?.output]).toMatchObject([
    'done',
    { stdout: '42\n', exitCode: 0 },
  ]);
});

it('provides the sandbox of a session again, until it is destroyed', async () => {
  const provider = sandboxProvider({ labels: { of: 'test' } });
  const sessionId = `s-${Date.now()}`;
  const made = await provider.createSession({
    sessionId,
    onFirstCreate: async (first) => void (await first.run({ command: 'echo prepared > state' })),
  });
  expect(made.defaultWorkingDirectory).toBe('/workspace');
  expect('stop' in made.restricted()).toBe(false);
  await made.stop();
  const resumed = await provider.resumeSession!({ sessionId });
  const { codebaseId } = (await Sandbox.connect(made.id)).info;
  expect([resumed.id, await resumed.readTextFile({ path: 'state' })]).toEqual([made.id, 'prepared\n']);
  await resumed.destroy();
  await expect(new Paddock().codebases.get(codebaseId)).rejects.toThrow(NotFoundError);
  await Promise.all([made.stop(), made.destroy()]);
  await expect(Sandbox.connect(made.id)).rejects.toThrow(NotFoundError);
  await expect(provider.resumeSession!({ sessionId })).rejects.toThrow(/no sandbox/);
  const failed = provider.createSession({ onFirstCreate: () => Promise.reject(new Error('no set-up')) });
  await expect(failed).rejects.toThrow('no set-up');
  const left = [];
  for await (const { id } of new Paddock().sandboxes.list({ labels: { of: 'test' } })) left.push(id);
  expect(left).toEqual([]);
});

it('opens ports, and sets the policy of the network', async () => {
  const made = await sandboxProvider({ ports: [8000] }).createSession();
  try {
    expect(made.ports).toEqual([8000]);
    await made.writeTextFile({ path: 'index.html', content: 'shown' });
    await made.spawn({ command: 'python3 -m http.server 8000 --bind 127.0.0.1' });
    const own = await Sandbox.connect(made.id);
    await own.ports.wait(8000);
    const { url } = await made.getPortEndpoint({ port: 8000 });
    expect(await (await fetch(url)).text()).toBe('shown');
    expect(await made.getPortUrl({ port: 8000, protocol: 'ws' })).toBe(url.replace(/^http/, 'ws'));
    await made.setPorts!([9000]);
    expect([made.ports, await own.ports.opened()]).toEqual([[9000], []]);
    const policy = { allowedHosts: ['*.example.com'], allowedCIDRs: ['8.8.8.0/24'], deniedCIDRs: ['8.8.8.8/32'] };
    await made.setNetworkPolicy!({ mode: 'custom', ...policy });
    const rules = [{ host: '*.example.com' }, { cidr: '8.8.8.0/24' }, { action: 'deny', cidr: '8.8.8.8/32' }];
    expect(await own.network.get()).toMatchObject({ mode: 'allow_list', rules });
    await made.setNetworkPolicy!({ mode: 'allow-all' });
    expect(await own.network.get()).toMatchObject({ mode: 'open', rules: [] });
    await made.setNetworkPolicy!({ mode: 'deny-all' });
    expect(await own.network.get()).toMatchObject({ mode: 'none', rules: [] });
  } finally {
    await made.destroy();
  }
});

it('keeps a codebase with commits', async () => {
  const sessionId = `c-${Date.now()}`;
  const provider = sandboxProvider();
  const made = await provider.createSession({ sessionId });
  await made.writeTextFile({ path: 'work', content: 'done' });
  const other = await Sandbox.connect(made.id);
  await other.commit();
  await (await provider.resumeSession!({ sessionId })).destroy();
  const { codebases } = new Paddock();
  expect(Buffer.from(await codebases.read(other.info.codebaseId, 'work')).toString()).toBe('done');
  await codebases.delete(other.info.codebaseId);
});
