import { dirname, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from '../contract/rest-client.ts';
import { EVERYTHING } from '../contract/rules.ts';
import { Server, State } from '../contract/server.ts';
import { FILES, ROWS, RULES } from './typed-commands.ts';

const MODULES = resolve(import.meta.dirname, '../../node_modules');
const NODE = dirname(dirname(process.execPath));

let state: State;
let server: Server;
let client: RestClient;
let sandbox_id: string;

/** Sandboxes see /usr; a release of Node that is elsewhere is added to what they see, and to their PATH. */
const elsewhere = NODE.startsWith('/usr') ? [] : [NODE];
const path = elsewhere.map((place) => `PATH=$PATH:${place}/bin; `).join('');
const run = (sandbox: string, command: string) =>
  client.call('Exec', { sandbox_id: sandbox, command: path + command, timeout: 60 });

beforeAll(async () => {
  state = await State.create();
  server = await Server.start(state, { config: { runtime: { read_only_paths: [MODULES, ...elsewhere] } } });
  client = new RestClient(server.httpAddress);
  const { id: codebase_id } = await client.call('CreateCodebase', { name: 'sums', owner_id: 'me' });
  const { id: seed } = await client.call('CreateSandbox', { codebase_id, permissions: EVERYTHING });
  for (const [path, text] of Object.entries(FILES)) {
    await client.write('WriteFile', { sandbox_id: seed, path }, Buffer.from(text));
  }
  const author = '-c user.name=ann -c user.email=ann@example.com';
  const made = await run(
    seed,
    `git init -q -b main . && git add -A && git ${author} commit -qm first && ln -s ${MODULES} node_modules`,
  );
  expect(made).toMatchObject({ exit_code: 0 });
  await client.call('Commit', { sandbox_id: seed });
  ({ id: sandbox_id } = await client.call('CreateSandbox', { codebase_id, permissions: RULES }));
});

afterAll(async () => {
  client?.close();
  await server?.stop();
  await state?.remove();
});

describe('a command that agents type', () => {
  it.each(ROWS)('%s', async (command, exit, sentence) => {
    const { exit_code, stdout, stderr } = await run(sandbox_id, command);
    const output = `${stdout}${stderr}`;
    expect({ exit_code, output }).toEqual({
      exit_code: typeof exit === 'number' ? exit : expect.toBeOneOf([...exit]),
      output: expect.stringMatching(sentence),
    });
    expect(output).not.toMatch(/hidden-(token|key)/);
  });

  it('and no other is in the table twice', () => {
    expect(new Set(ROWS.map(([command]) => command)).size).toBe(ROWS.length);
    expect(ROWS.length).toBeGreaterThanOrEqual(89);
  });
});
