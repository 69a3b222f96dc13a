import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cli } from '../clients/cli/cli.ts';

const home = mkdtempSync(join(tmpdir(), 'paddock-home-'));
const file = join(home, '.config/paddock/server.yaml');
const project = join(home, 'project');
const env = { HOME: home, PADDOCK_LOCAL_STATE: join(home, 'state') };
const paddock = (...args: string[]) => cli(args, { env, cwd: project });

beforeAll(() => {
  mkdirSync(join(home, '.config/paddock'), { recursive: true });
  mkdirSync(join(project, 'private'), { recursive: true });
  writeFileSync(join(project, 'private/key'), 'k');
  writeFileSync(join(project, '.paddock.yaml'), 'rules: [none:private/**]\n');
});
afterAll(async () => {
  await paddock('server', 'stop');
  rmSync(home, { recursive: true, force: true });
});

it('the local server refuses a bad setting by the user’s file, key and value', async () => {
  writeFileSync(file, 'sandbox: {max_per_user: many}\n');
  const { code, stderr } = await paddock('server', 'start');
  expect(code).toBe(1);
  expect(stderr).toContain(`${file}: sandbox.max_per_user: value "many" is not allowed`);
});

it('the local server listens on loopback, also with empty sections in the user’s file', async () => {
  writeFileSync(file, 'server:\n  # http_addr: ""\nauth:\nstorage:\n');
  expect(await paddock('server', 'start')).toMatchObject({ code: 0 });
  const { server, auth } = JSON.parse(readFileSync(join(home, 'state/server.yaml'), 'utf8'));
  expect([server, auth]).toEqual([{ http_addr: '127.0.0.1:0', grpc_addr: '127.0.0.1:0' }, { mode: 'keys' }]);
  await paddock('server', 'stop');
});

it('config --trust shows the file that it trusts, with escapes for what a terminal obeys', async () => {
  const text = readFileSync(join(project, '.paddock.yaml'), 'utf8');
  writeFileSync(join(project, '.paddock.yaml'), 'network: {allow: [evil.example]} # \u200b\n');
  expect((await paddock('config', 'trust')).stderr).toContain('allow: [evil.example]} # \\u{200b}');
  writeFileSync(join(project, '.paddock.yaml'), text);
});

it('the user’s settings hold, stay as they are, and are shown with their source', async () => {
  const text = '# mine\nsandbox: {max_per_user: 1}\n';
  writeFileSync(file, text);
  expect(await paddock('create')).toMatchObject({ code: 0 });
  const second = await paddock('create');
  expect([second.code, second.stderr]).toEqual([1, expect.stringMatching(/the most is 1/)]);
  expect(readFileSync(file, 'utf8')).toBe(text);
  const { stdout } = await paddock('config', 'show');
  expect(stdout).toMatch(/^sandbox\.max_per_user = 1 +\(.*\.config\/paddock\/server\.yaml\)$/m);
  expect(stdout).toMatch(/^auth\.mode = "keys" +\(the local server\)$/m);
  expect(stdout).toMatch(/^--rule = \["none:private\/\*\*"\] +\(.*project\/\.paddock\.yaml\)$/m);
});

it('a change of the settings is told until the server was stopped, after which it holds', async () => {
  writeFileSync(file, 'sandbox: {max_per_user: 50}\n');
  expect((await paddock('ls')).stderr).toMatch(/settings of the local server were changed since it started/);
  expect((await paddock('server', 'stop')).code).toBe(0);
  const { code, stdout, stderr } = await paddock('run', '--from', '.', '--apply', 'none', '--', 'ls');
  expect([code, stdout, stderr]).toEqual([0, '', expect.not.stringMatching(/settings of the local server/)]);
});
