import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type McpClient } from '../contract/mcp-clients.ts';
import { RestClient } from '../contract/rest-client.ts';
import { serverOfFile } from '../contract/use-server.ts';

const served = serverOfFile();
let rest: RestClient;
let sandbox_id: string;
const clients: McpClient[] = [];
let owner: McpClient;
let agent: McpClient;

beforeAll(async () => {
  rest = new RestClient(served.server.httpAddress);
  owner = await connect('2026-07-28', `http://${served.server.httpAddress}/mcp`, 'none');
  clients.push(owner);
  const { structuredContent } = await owner.call('codebase_create', { name: 'c' });
  const made = await owner.call('sandbox_create', { ...structuredContent, rules: { write: ['**'], none: ['hidden'] } });
  sandbox_id = String(made.structuredContent!.sandbox_id);
  agent = await connect('2026-07-28', `http://${served.server.httpAddress}/v1/sandboxes/${sandbox_id}/mcp`, 'none');
  clients.push(agent);
});

afterAll(async () => {
  for (const client of clients) await client.close();
  rest?.close();
});

async function call(client: McpClient, name: string, args: object): Promise<string> {
  const { isError = false, content } = await client.call(name, args);
  return `${isError ? 'refused ' : ''}${content.map(({ text }) => text).join('')}`;
}

const write = (path: string, content: string) => call(agent, 'file_write', { path, content });

it.each(['changes_commit', 'changes_discard'])('%s without a choice names both choices', async (name) => {
  await write('one', name);
  await write('two', name);
  for (const args of [{}, { paths: [] }]) {
    expect(await call(owner, name, { sandbox_id, ...args })).toBe(
      'refused INVALID_ARGUMENT: paths must name at least one path; use all: true for all changes',
    );
  }
  expect(await call(owner, name, { sandbox_id, paths: ['one'] })).toMatch(/^(committed|discarded) 1 changes$/);
  expect(await call(owner, name, { sandbox_id, all: true })).toMatch(/^(committed|discarded) 1 changes$/);
});

it('an edit of a text that is there several times tells how often, and how to mean one or all', async () => {
  await write('a.txt', 'x = 1\ny\nx = 1\n');
  const edit = (of: object) => call(agent, 'file_edit', { path: 'a.txt', edits: [of] });
  expect(await edit({ oldText: 'x = 1', newText: 'x = 2' })).toMatch(
    /^refused INVALID_ARGUMENT: oldText matches 2 times; name more of the lines around it, or use replace_all:/,
  );
  expect(await call(agent, 'file_read', { path: 'a.txt' })).toBe('x = 1\ny\nx = 1\n');
  await edit({ oldText: 'y\nx = 1', newText: 'y\nx = 2' });
  expect(await call(agent, 'file_read', { path: 'a.txt' })).toBe('x = 1\ny\nx = 2\n');
  await edit({ oldText: 'x', newText: 'z', replace_all: true });
  expect(await call(agent, 'file_read', { path: 'a.txt' })).toBe('z = 1\ny\nz = 2\n');
});

it('an edit of a text that is not there tells to read the file again', async () => {
  await write('b.txt', 'new\n');
  const args = { path: 'b.txt', edits: [{ oldText: 'old', newText: 'x' }] };
  expect(await call(agent, 'file_edit', args)).toMatch(
    /^refused INVALID_ARGUMENT: oldText is not in the file; read it again/,
  );
});

it('the tool and the instructions tell that no shell is kept, what is kept, and which network there is', async () => {
  const exec = (await agent.tools()).find(({ name }) => name === 'exec');
  expect(JSON.stringify(exec)).toMatch(
    /Each call is a new shell[\s\S]*until the call returns[\s\S]*until the command is killed/,
  );
  expect(agent.instructions()).toMatch(/stay between calls; the shell of exec does not, that of session_exec does/);
  expect(agent.instructions()).toMatch(/\(ENOENT\)[\s\S]*does not change on retry[\s\S]*have no network\.\nWritable: /);
});

it('a preset of another name is refused with the names that there are', async () => {
  const { presets } = await rest.call('ListPresets', {});
  const { codebase_id } = await rest.call('GetSandbox', { sandbox_id });
  const refusal = await call(owner, 'sandbox_create', { codebase_id, preset: 'safe' });
  for (const { name } of [...presets, { name: 'none' }]) expect(refusal).toContain(`"${name}"`);
  expect(await call(owner, 'sandbox_create', { codebase_id, preset: 'read-only' })).toContain('"running"');
});

it('answers name paths as rules and changes do, and every tool takes them back, absolute or not', async () => {
  await write('/workspace/p/one.ts', 'one\n');
  expect(await write('p/two.ts', 'two\n')).toBe('Successfully wrote to p/two.ts');
  expect(await call(agent, 'file_list', { path: '/workspace', pattern: 'p/*.ts' })).toBe(
    'p/one.ts (4 B)\np/two.ts (4 B)',
  );
  const exclude = ['/workspace/p/two.*'];
  for (const path of ['p', '/workspace/p']) {
    const found = await call(agent, 'file_list', { path, pattern: '/workspace/p/*.ts', exclude });
    expect(found).toBe('p/one.ts (4 B)');
  }
  for (const path of ['p/one.ts', '/workspace/p/one.ts']) {
    expect(await call(agent, 'file_read', { path })).toBe('one\n');
    expect(await call(agent, 'changes_list', { paths: [path] })).toBe('A p/one.ts');
    const explained = await agent.call('access_explain', { path });
    expect(explained.structuredContent).toMatchObject({ path: 'p/one.ts' });
    const choice = { sandbox_id, paths: [path], exclude: ['/workspace/p/two.ts'], dry_run: true };
    expect(await call(owner, 'changes_commit', choice)).toBe('would commit 1 changes');
  }
  const all = { sandbox_id, all: true, exclude: ['/workspace/p/one.ts'] };
  expect(await call(owner, 'changes_discard', all)).toMatch(/^discarded \d+ changes$/);
  expect(await call(agent, 'changes_list', {})).toBe('A p\nA p/one.ts');
});

it('a path elsewhere is refused with where paths begin, and a glob elsewhere with what it is relative to', async () => {
  expect(await call(agent, 'file_read', { path: '/p/one.ts' })).toBe(
    'refused INVALID_ARGUMENT: path must be within /workspace, which "/p/one.ts" is not; paths are relative to it, like src/a.ts',
  );
  expect(await call(agent, 'file_list', { path: 'p', pattern: '/workspace/src/*' })).toBe(
    'refused INVALID_ARGUMENT: pattern must be globs below p, relative to it, like **/*.ts',
  );
});

it('a path at which commands see the workspace names the same file', async () => {
  const { codebase_id } = await rest.call('GetSandbox', { sandbox_id });
  const request = { codebase_id, rules: { write: ['**'] }, workspace_path: '/home/ann/project' };
  const { id } = await rest.call('CreateSandbox', request);
  const args = { sandbox_id: id, path: '/home/ann/project/a.ts' };
  expect(await call(owner, 'file_write', { ...args, content: 'a\n' })).toBe('Successfully wrote to a.ts');
  expect(await call(owner, 'exec', { sandbox_id: id, command: 'cat /home/ann/project/a.ts' })).toBe('a\n');
  const exclude = ['/home/ann/project/a.ts'];
  expect(await call(owner, 'changes_discard', { sandbox_id: id, all: true, exclude })).toBe('discarded 0 changes');
  expect(await call(owner, 'file_read', args)).toBe('a\n');
});

it('a long file comes in parts that end with a character, each of which tells where the next one begins', async () => {
  const text = 'ä'.repeat(25_001);
  await write('long', `x${text}`);
  const first = await agent.call('file_read', { path: 'long' });
  expect(first.structuredContent).toMatchObject({ size: 50_003, next_offset: 19_999 });
  expect(first.content[0]!.text).toMatch(/^xä+\n\[next_offset 19999 of 50003 bytes\]$/);
  let [read, offset] = ['', 0 as number | undefined];
  while (offset !== undefined) {
    const { structuredContent } = await agent.call('file_read', { path: 'long', offset });
    read += structuredContent!.content;
    offset = structuredContent!.next_offset as number | undefined;
  }
  expect(read).toBe(`x${text}`);
  expect(await call(agent, 'file_read', { path: 'long', offset: 50_004 })).toBe(
    'refused INVALID_ARGUMENT: offset must be at most 50003, the size of the file',
  );
});

it('a list that is too long tells how many are left out, and what to choose', async () => {
  await call(agent, 'exec', { command: 'mkdir many; cd many; touch $(seq -f "%05g" 3000)' });
  const listed = await call(agent, 'file_list', { path: 'many' });
  const [left] = /\[(\d+) more: choose path, pattern or exclude\]$/.exec(listed)!.slice(1);
  expect(listed.length).toBeLessThan(20_100);
  expect(listed.split('\n').length - 1 + Number(left)).toBe(3000);
  expect(await call(agent, 'file_list', { path: 'many', pattern: '0299[89]' })).toBe(
    'many/02998 (0 B)\nmany/02999 (0 B)',
  );
});

it('exec says which tool keeps a shell; that one keeps directory and variables until exit', async () => {
  expect(JSON.stringify((await agent.tools()).find(({ name }) => name === 'exec'))).toMatch(
    /not kept, as session_exec/,
  );
  const run = async (args: object) => (await agent.call('session_exec', args)).structuredContent!;
  const { session_id } = await run({ command: 'mkdir -p in/it; cd in/it; N=1' });
  expect(await run({ session_id, command: 'pwd; echo $N; false' })).toMatchObject({
    session_id,
    output: '/workspace/in/it\n1\n',
    exit_code: 1,
    session_ended: false,
  });
  expect(await call(agent, 'session_exec', { session_id, command: 'echo bye; exit 3' })).toBe(
    'bye\n[exit code 3; the session has ended]',
  );
  expect(await call(agent, 'session_exec', { session_id, command: 'pwd' })).toMatch(
    /^refused FAILED_PRECONDITION: [\s\S]*exit/,
  );
});

it('a command of a session that is killed by its timeout is followed by one that tells of the lost state', async () => {
  const { session_id } = (await agent.call('session_exec', { command: 'N=1' })).structuredContent!;
  const late = await call(agent, 'session_exec', { session_id, command: 'echo begun; sleep 100', timeout: 1 });
  expect(late).toBe(
    'refused DEADLINE_EXCEEDED: the command was killed after 1 s, and the state of its shell is lost: use exec for long commands\nbegun\n',
  );
  expect(await call(agent, 'session_exec', { session_id, command: 'echo "$N"' })).toBe(
    `\n[the shell was new: the one before was killed; session_id ${session_id}]`,
  );
});

it('a new session whose first command is killed is not left behind', async () => {
  const ids = async () => (await rest.call('ListSessions', { sandbox_id })).sessions.map(({ id }) => id);
  const before = await ids();
  expect(await call(agent, 'session_exec', { command: 'sleep 100', timeout: 1 })).toMatch(/^refused DEADLINE_/);
  expect(await ids()).toEqual(before);
});

it('a session of another sandbox does not exist for an agent, with any key', async () => {
  const { codebase_id } = await rest.call('GetSandbox', { sandbox_id });
  const { id } = await rest.call('CreateSandbox', { codebase_id, rules: { write: ['**'] } });
  const session = await rest.call('CreateSession', { sandbox_id: id });
  const refusal = await call(agent, 'session_exec', { session_id: session.id, command: 'id' });
  expect(refusal).toMatch(/^refused NOT_FOUND: session "/);
});

it('grep finds literals and expressions in what the agent sees, and tells when there is more', async () => {
  await write('g/a.txt', 'one (x)\ntwo\n');
  await write('g/b.md', 'one (x)\n');
  await write('g/ä/a\nb', 'umlaut\n');
  expect(await call(agent, 'file_grep', { pattern: 'umlaut', files: '**/ä/*' })).toBe('"g/ä/a\\nb":1: umlaut');
  await rest.call('Exec', { sandbox_id, command: 'printf "one\\0" > g/binary' });
  expect(await call(agent, 'file_grep', { pattern: '(x)' })).toBe('g/a.txt:1: one (x)\ng/b.md:1: one (x)');
  expect(await call(agent, 'file_grep', { pattern: '^t.o$', regex: true, path: 'g' })).toBe('g/a.txt:2: two');
  expect(await call(agent, 'file_grep', { pattern: 'one', path: '/workspace/g', files: '*.md' })).toMatch(/^g\/b.md:1/);
  expect(await call(agent, 'file_grep', { pattern: '(', regex: true })).toMatch(
    /^refused INVALID_ARGUMENT: pattern must/,
  );
  await write('g/long', 'many\n'.repeat(10_000));
  const many = await call(agent, 'file_grep', { pattern: 'many' });
  expect(many).toMatch(/\n\[there may be more: choose path, files or pattern\]$/);
  expect(many.length).toBeLessThan(20_300);
});

it('an expression that takes for ever is ended after 10 s', async () => {
  await write('g/slow', `${'a'.repeat(60)}b\n`);
  expect(await call(agent, 'file_grep', { pattern: '^(a+)+$', regex: true, path: 'g' })).toBe(
    'refused DEADLINE_EXCEEDED: the call took more than 10 s',
  );
}, 60_000);
