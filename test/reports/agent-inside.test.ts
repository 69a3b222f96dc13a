import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { cli } from '../clients/cli/cli.ts';
import { openWorld, type World } from '../network/world.ts';

/** A developer with an agent of her own: a file that says what it needs, and a program in PATH. */
const home = realpathSync(mkdtempSync('/tmp/paddock-agent-'));
const project = join(home, 'project');
const KEY = 'sk-of-the-developer-0123456789abcdef';
const env = { HOME: home, PADDOCK_LOCAL_STATE: join(home, '.state'), PATH: `${home}/.fake/bin:${process.env.PATH}` };
const AGENT = `
command: fake
install: npm install -g fake
args: [--unattended]
keys: [{variable: FAKE_API_KEY, shape: sk-, header: authorization, hosts: [api.model.test], url: FAKE_BASE_URL}]
env: {FAKE_TELEMETRY: 'off'}
files:
  - {path: .fake/settings.json, keep: [model], set: {key: '{FAKE_API_KEY}', trusted: {'{workspace}': true}}}
  - {path: .fake/notes, copy: true}
`;
/** It asks the model what to write, and shows all that it can find of the key. */
const PROGRAM = `#!/bin/sh
curl -sS -H "authorization: Bearer $FAKE_API_KEY" https://api.model.test/what >a.txt || exit 9
{ echo "$@ $FAKE_TELEMETRY"; cat ~/.fake/settings.json ~/.fake/notes/*; env; cat /proc/*/environ; grep -rs . ~; } | tr '\\0' '\\n' >found
`;

let world: World;
/** Heads of requests that reached the model. */
const seen: string[] = [];

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(join(home, path, '..'), { recursive: true });
  writeFileSync(join(home, path), text, { mode });
}

beforeAll(async () => {
  world = await openWorld(
    (request, response) => {
      seen.push(`${request.url}\n${request.rawHeaders.join('\n')}`);
      response.end('of the model\n');
    },
    ['api.model.test'],
  );
  world.names.set('api.model.test', () => world.address);
  const network = { resolvers: [world.resolver], extra_ca: world.certificate };
  put('.config/paddock/server.yaml', JSON.stringify({ network }));
  put('.config/paddock/agents/fake.yaml', AGENT);
  put('.fake/bin/fake', PROGRAM, 0o755);
  put('.fake/settings.json', JSON.stringify({ model: 'm-1', token: 'a-token-of-hers' }));
  put('.fake/notes/style.md', 'be brief\n');
});
afterAll(async () => {
  const { code } = await cli(['server', 'stop'], { env });
  await world.close();
  rmSync(home, { recursive: true, force: true });
  expect(code).toBe(0);
});
beforeEach(() => {
  seen.length = 0;
  rmSync(project, { recursive: true, force: true });
  put('project/a.txt', 'old\n');
});

const run = (args: string[], more: Record<string, string> = {}) =>
  cli(['run', '--from', project, '--apply', 'all', ...args], { env: { ...env, ...more } });
const get = (path: string) => readFileSync(join(project, path), 'utf8');
const listed = async (what: string[]) => JSON.parse((await cli([...what, '--json'], { env })).stdout) as unknown;

it('an agent works with a key that only its service gets, and its changes come home', async () => {
  const { code, stderr } = await run(['--agent', 'fake', '--', 'fix it'], { FAKE_API_KEY: KEY });
  expect([code, get('a.txt')], stderr).toEqual([0, 'of the model\n']);
  expect(seen).toEqual([expect.stringContaining(`Bearer ${KEY}`)]);
  const found = get('found');
  const [, placeholder = ''] = /^FAKE_API_KEY=(sk-\w{33})$/m.exec(found) ?? [];
  expect(placeholder).not.toBe('');
  expect(found).not.toContain(KEY);
  expect(seen.join()).not.toContain(placeholder);
  const [first, ...rest] = found.split('\n');
  expect(first).toBe('--unattended fix it off');
  const settings = { model: 'm-1', key: placeholder, trusted: { [project]: true } };
  expect(JSON.parse(rest.join('\n').split('be brief')[0]!)).toEqual(settings);
  expect(found).not.toContain('a-token-of-hers');
});

it('nothing of a run with an agent is left on the server', async () => {
  await run(['--agent', 'fake'], { FAKE_API_KEY: KEY });
  expect([await listed(['secret', 'ls']), await listed(['ls'])]).toEqual([[], []]);
  const { code } = await run(['--agent', 'fake', '--memory', '1b'], { FAKE_API_KEY: KEY });
  expect([code, await listed(['secret', 'ls'])]).toEqual([125, []]);
});

it('the secrets of a sandbox that is kept are removed with it', async () => {
  await run(['--keep', '--agent', 'fake'], { FAKE_API_KEY: KEY });
  expect(await listed(['secret', 'ls'])).toEqual([expect.objectContaining({ hosts: ['api.model.test'] })]);
  const [{ id }] = (await listed(['ls'])) as [{ id: string }];
  await cli(['rm', id], { env });
  expect(await listed(['secret', 'ls'])).toEqual([]);
});

it('a secret that the user has named like one of an agent stays when its sandbox is removed', async () => {
  const set = ['secret', 'set', 'agent-mine', '--host', 'api.model.test'];
  expect(await cli(set, { env, input: KEY })).toMatchObject({ code: 0 });
  expect(await run(['--allow', 'api.model.test', '--secret', 'agent-mine=MINE', '--', 'true'])).toMatchObject({
    code: 0,
  });
  expect(await listed(['secret', 'ls'])).toEqual([expect.objectContaining({ name: 'agent-mine' })]);
  await cli(['secret', 'rm', 'agent-mine'], { env });
});

it('without a key, or without its program, an agent is refused with what to do', async () => {
  expect(await run(['--agent', 'fake'])).toMatchObject({
    code: 125,
    stderr: expect.stringContaining('fake needs a key: set FAKE_API_KEY'),
  });
  const { stderr } = await run(['--agent', 'fake'], { FAKE_API_KEY: KEY, PATH: process.env.PATH! });
  expect(stderr).toContain('fake is not installed: fake is not in PATH. Run: npm install -g fake');
  expect((await run(['--agent', 'none'])).stderr).toMatch(/--agent is aider, claude, .*agents\/NAME\.yaml; got "none"/);
});

it('a project can name an agent, after a yes, which runs where no command is given', async () => {
  put('project/.paddock.yaml', 'agent: fake\n');
  const { code, stderr } = await run([], { FAKE_API_KEY: KEY });
  expect([code, stderr]).toEqual([125, expect.stringContaining('asks for --agent fake')]);
  await cli(['config', 'trust', project], { env });
  expect((await run([], { FAKE_API_KEY: KEY })).code).toBe(0);
  expect(get('a.txt')).toBe('of the model\n');
  expect((await run(['--', 'cp', 'a.txt', 'b.txt'])).code).toBe(0);
});
