import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Paddock } from '../../clients/typescript/src/paddock.ts';
import { cli, start } from '../clients/cli/cli.ts';

const home = mkdtempSync(join(tmpdir(), 'paddock-second-run-'));
const env = { HOME: home, PADDOCK_LOCAL_STATE: join(home, '.state') };
const WORDS = ['--tools', 'none', '--preset', 'full-access', '--apply', 'none'];
let project: string;
let paddock: Paddock;

beforeAll(async () => {
  expect(await cli(['server', 'start'], { env })).toMatchObject({ code: 0 });
  const { url, key } = JSON.parse(readFileSync(join(home, '.state/server.json'), 'utf8'));
  paddock = new Paddock({ url, key });
});
afterAll(async () => {
  const { code } = await cli(['server', 'stop'], { env });
  rmSync(home, { recursive: true, force: true });
  expect(code).toBe(0);
});
beforeEach(() => {
  project = mkdtempSync(join(home, 'project-'));
  mkdirSync(join(project, 'd'));
  for (const path of ['a', 'gone', 'd/x']) put(path, path);
});

const put = (path: string, content: string) => writeFileSync(join(project, path), content);
const words = (script: string, ...more: string[]) => [
  'run',
  '--from',
  project,
  ...WORDS,
  ...more,
  '--',
  'sh',
  '-c',
  script,
];
const run = async (script: string, ...more: string[]) => {
  const { code, stdout, stderr } = await cli(words(script, ...more), { env });
  expect(code, stderr).toBe(0);
  return stdout;
};
/** The codebases of this project, the newest first. */
const codebases = async () => {
  const ids: string[] = [];
  for await (const { id, name } of paddock.codebases.list()) if (project.endsWith(`/${name}`)) ids.push(id);
  return ids;
};
/** A run that waits, and the end of its wait, after which it says what `a` has. */
const waiting = async () => {
  const before = new Set(await codebases());
  const script = 'touch started; while [ ! -e go ]; do sleep 0.05; done; cat a';
  const { child, ended } = start(words(script), { env });
  const find = async () => {
    for await (const sandbox of paddock.sandboxes.list()) {
      if (!before.has(sandbox.info.codebaseId) && (await sandbox.files.asOwner().exists('started'))) return sandbox;
    }
    return undefined;
  };
  await expect.poll(find, { timeout: 60_000 }).toBeDefined();
  const sandbox = (await find())!;
  return { child, ended, sandbox, go: () => sandbox.files.asOwner().write('go', '') };
};

it('a second run has what was changed here since, and only that is sent', async () => {
  expect(await run('cat a gone d/x')).toBe('agoned/x');
  const first = await codebases();
  put('a', 'b');
  put('d/new', 'new');
  rmSync(join(project, 'gone'));
  chmodSync(join(project, 'd/x'), 0o700);
  expect(await run('cat a d/new; ls; stat -c %a d/x')).toBe('bnewa\nd\n700\n');
  expect(await run('cat a; ls d')).toBe('bnew\nx\n');
  expect(first).toHaveLength(1);
  expect(await codebases()).toEqual(first);
});

it('what a sandbox wrote is not there in the next run', async () => {
  await run('echo changed > a; rm d/x');
  expect(await run('cat a d/x')).toBe('ad/x');
});

it('a run beside another one has files of its own', async () => {
  const { ended, go } = await waiting();
  put('a', 'new');
  expect(await run('cat a')).toBe('new');
  await go();
  expect((await ended).stdout).toBe('a');
});

it('the files of a run that was killed are not used again, and are deleted once its sandbox is gone', async () => {
  const { child, ended, sandbox } = await waiting();
  child.kill('SIGKILL');
  await ended;
  put('a', 'new');
  expect(await run('cat a')).toBe('new');
  expect(await codebases()).toContain(sandbox.info.codebaseId);
  await sandbox.destroy({ discard: true });
  await run('sleep 1');
  await expect.poll(codebases, { timeout: 30_000 }).not.toContain(sandbox.info.codebaseId);
});

it('files that somebody else has changed are not used, and stay', async () => {
  await run('true');
  const [id] = await codebases();
  await paddock.codebases.write(id!, 'theirs', 'theirs');
  expect(await run('ls')).toBe('a\nd\ngone\n');
  expect(await codebases()).toContain(id);
});

it('a sandbox that is kept keeps its files', async () => {
  const { stderr } = await cli(words('cat a', '--keep'), { env });
  const id = /sandbox (sb_\w+) is kept/.exec(stderr)![1]!;
  put('a', 'new');
  expect(await run('cat a')).toBe('new');
  const sandbox = await paddock.sandboxes.get(id);
  expect(await sandbox.files.asOwner().readText('a')).toBe('a');
  expect(await cli(['rm', id], { env })).toMatchObject({ code: 0 });
  expect(await codebases()).not.toContain(sandbox.info.codebaseId);
});
