import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RestClient } from './contract/rest-client.ts';
import { EVERYTHING } from './contract/rules.ts';
import { Server, State } from './contract/server.ts';

let state: State;
let server: Server;
let directory: string;

beforeAll(async () => {
  state = await State.create();
  server = await Server.start(state);
  directory = mkdtempSync(join(tmpdir(), 'paddock-docs-'));
  writeFileSync(join(directory, 'notes.txt'), 'my notes\n');
});

afterAll(async () => {
  await server?.stop();
  await state?.remove();
  rmSync(directory, { recursive: true });
});

/** Runs the first script of a page of docs/ on a new sandbox. */
async function walk(page: string): Promise<string> {
  const client = new RestClient(server.httpAddress);
  const { id: codebase_id } = await client.call('CreateCodebase', { name: 'docs', owner_id: 'me' });
  const { id } = await client.call('CreateSandbox', { codebase_id, permissions: EVERYTHING });
  client.close();
  const text = readFileSync(resolve(import.meta.dirname, `../docs/${page}`), 'utf8');
  const [, code = ''] = /```sh\n([\s\S]*?)```/.exec(text) ?? [];
  const script = code.replace('http://127.0.0.1:8080', `http://${server.httpAddress}`).replace('$SANDBOX', id);
  const { stdout, stderr } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: directory });
  expect(stderr).toBe('');
  return stdout;
}

function expectInOrder(stdout: string, inOrder: readonly string[]): void {
  let at = 0;
  for (const each of inOrder) {
    const found = stdout.indexOf(each, at);
    expect(found, `${each} in ${stdout.slice(at)}`).toBeGreaterThanOrEqual(at);
    at = found + 1;
  }
}

it('the commands in docs/processes.md have the described results', async () => {
  expectInOrder(await walk('processes.md'), [
    '"process_id":"adder","command":"while read n;',
    '{"input_next":3}',
    '{"gap":0,"output":[{"stream":"stdout","offset":0,"data":"NDIK"}],"next":3}',
    '{"input_next":3}',
    '"next":3,"end":{"reason":"exited","exit_code":0,',
    '"process_id":"web","command":"","argv":["sleep","600"]',
    '"process_id":"web"',
    '{"processes":[{"sandbox_id":',
    '"process_id":"adder"',
    '{}',
  ]);
});

it('the commands in docs/commands.md have the described results', async () => {
  expectInOrder(await walk('commands.md'), [
    '"shell":"bash","env":{"NODE_ENV":"test"},"workdir":"src"',
    '"stdout":"/workspace/src\\n"',
    '"stdout":"/tmp\\n"',
    '[48854 bytes left out]',
    '"stderr":"error\\n"',
    '[48854 bytes left out]',
    '"shell":"","env":{},"workdir":""',
  ]);
});

it('the commands in docs/files.md have the described results', async () => {
  const stat = '"type":"TYPE_FILE","size":9,"mode":420,';
  const inOrder = [
    `{"path":"docs/notes.txt",${stat}`,
    'my notes\n',
    '{"files":[{"path":"docs/notes.txt"',
    `{"path":"docs/notes.txt",${stat}`,
    '{"path":"a/b","type":"TYPE_DIRECTORY"',
    `{"path":"a/b/notes.txt",${stat}`,
    '{"files":1,"directories":0,"symlinks":0,"size":9}',
    'notes.txt\n',
    '{"removed":2}',
  ];
  expectInOrder(await walk('files.md'), inOrder);
});

it('the commands in docs/ports.md have the described results', async () => {
  expectInOrder(await walk('ports.md'), [
    '"process_id":"web"',
    '{"listening":true,"ports":[{"port":8000,"address":"127.0.0.1"',
    '/ports/8000/proxy/","access":"key","expires_at":0',
    'Directory listing for /',
    '{"ports":[{"sandbox_id":"sb_',
    '"listening":[8000]}',
    '{}',
  ]);
});
