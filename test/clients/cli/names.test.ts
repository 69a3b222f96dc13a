import { afterEach, expect, it } from 'vitest';
import { servedOnce } from '../typescript/served.ts';
import { cli } from './cli.ts';

const served = servedOnce();
const paddock = async (...args: string[]) => {
  const { code, stdout, stderr } = await cli(args, { url: served.url });
  return { code, text: stdout.trim(), stderr };
};

afterEach(async () => {
  const { text } = await paddock('ls', '-q');
  if (text !== '') await paddock('rm', ...text.split('\n'));
});

it('sandboxes are listed with name, owner and labels, and filtered by them', async () => {
  const { text: web } = await paddock('create', '--name', 'web', '--label', 'team=a');
  const { text: other } = await paddock('create', '--label', 'team=b');
  const table = (await paddock('ls')).text.split('\n');
  expect(table[0]).toMatch(/^SANDBOX +NAME +STATUS +OWNER +CREATED +LABELS$/);
  expect(table.find((line) => line.startsWith(web))).toMatch(/ web +running .* team=a$/);
  const ids = async (...args: string[]) => (await paddock('ls', '-q', ...args)).text;
  expect(await ids('--name', 'web')).toBe(web);
  expect(await ids('--label', 'team=b')).toBe(other);
  expect(await ids('--status', 'stopped')).toBe('');
  expect(await ids('--owner', 'nobody')).toBe('');
  expect((await paddock('ls', '--status', 'asleep')).stderr).toMatch(/--status is pending, running, stopped or error/);
});

it('a fork has the labels of the forked sandbox without its name, or a name of its own', async () => {
  const { text: web } = await paddock('create', '--name', 'web', '--label', 'team=a');
  const { text: fork } = await paddock('fork', 'web');
  expect((await served.paddock().sandboxes.get(fork)).info.labels).toMatchObject({ team: 'a', 'fork-of': 'web' });
  // Not ambiguous.
  expect((await paddock('stop', 'web')).text).toContain(web);
  const { text: named } = await paddock('fork', '--name', 'next', fork);
  expect((await paddock('ls', '-q', '--name', 'next')).text).toBe(named);
  expect((await paddock('fork', '--name', 'x', '-n', '2', fork)).stderr).toMatch(/--name is for one fork/);
});

it('attach to a sandbox is to the one process that runs in it', async () => {
  await paddock('create', '--name', 'web');
  expect((await paddock('attach', 'web')).stderr).toMatch(/no process runs in web: start one with paddock exec/);
  await paddock('exec', '-di', '--name', 'one', 'web', '--', 'sh', '-c', 'read line; echo "got $line"; exit 3');
  const attached = await cli(['attach', 'web'], { url: served.url, input: 'a\n' });
  expect([attached.code, attached.stdout]).toEqual([3, 'got a\n']);
  expect((await paddock('attach', 'nothing')).stderr).toMatch(/no process or sandbox "nothing": see paddock ps/);
  for (const name of ['two', 'three']) await paddock('exec', '-d', '--name', name, 'web', 'sleep', '1000');
  expect((await paddock('attach', 'web')).stderr).toMatch(/"web" is ambiguous: sb_\S+\/t\S+, sb_/);
});

it('codebases are listed, and deleted unless a sandbox uses them', async () => {
  const { text: id } = await paddock('create', '--name', 'web');
  const { codebaseId } = (await served.paddock().sandboxes.get(id)).info;
  expect((await paddock('codebase', 'ls')).text).toMatch(/^CODEBASE +NAME +OWNER +CREATED +FILES +SIZE\n/);
  expect((await paddock('codebase', 'ls', '-q')).text.split('\n')).toContain(codebaseId);
  expect((await paddock('codebase', 'rm', codebaseId)).code).toBe(1);
  const { id: free } = await served.paddock().codebases.create({ name: 'free' });
  expect(await paddock('codebase', 'rm', free, codebaseId)).toMatchObject({
    code: 1,
    text: free,
    stderr: expect.stringContaining('1 of 2 failed'),
  });
});
