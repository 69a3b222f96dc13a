import { once } from 'node:events';
import { expect, it } from 'vitest';
import { emptyDirectory, putAll } from '../../directory.ts';
import { servedOnce } from '../typescript/served.ts';
import { start } from './cli.ts';
import { CLI, runCli } from './run-cli.ts';
import { Tmux } from './tmux.ts';

const served = servedOnce();
const directory = emptyDirectory();
const run = async (line: string, input?: string) => {
  const { url } = served;
  const { exitCode, stdout, stderr } = await runCli(line.split(' '), {
    url,
    input: input ? Buffer.from(input) : undefined,
  });
  return { exitCode, stdout: String(stdout), stderr };
};

it('a secret is set, shown without its value, replaced and removed', async () => {
  const set = await run('secret set github --host api.github.com --shape ghp_', 'ghp_first-value\n');
  expect(set).toMatchObject({ exitCode: 0, stdout: 'github, revision 1\n' });
  expect((await run('secret set github --host api.github.com', 'ghp_second-value')).stdout).toBe(
    'github, revision 2\n',
  );
  const { stdout: list } = await run('secret ls --json');
  expect(JSON.parse(list)).toMatchObject([
    { name: 'github', hosts: ['api.github.com'], parts: ['header'], usedBy: [] },
  ]);
  const { stdout: text } = await run('secret get github');
  expect(text).toMatch(/hosts +api\.github\.com\nparts +header\nrevision +2/);
  expect(list + text).not.toContain('value');
  expect(await run('secret rm github')).toMatchObject({ exitCode: 0, stdout: 'github\n' });
  expect(await run('secret get github')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('github') });
});

it('a secret is set for one header, and shown with it', async () => {
  await run('secret set llm --host api.llm.example --header x-api-key', 'a-value-of-length\n');
  expect((await run('secret get llm')).stdout).toMatch(/parts +header\nheader +x-api-key\nrevision +1/);
  expect(await served.paddock().secrets.get('llm')).toMatchObject({ header: 'x-api-key' });
  await run('secret rm llm');
});

it('the client puts, gets, lists and deletes', async () => {
  const { secrets, sandboxes } = served.paddock();
  const secret = { value: 'a-value-of-length', hosts: ['a.example'], shape: 'sk-' };
  expect(await secrets.put('a', secret)).toMatchObject({ name: 'a', revision: 1, parts: ['header'] });
  expect(await secrets.put('a', { ...secret, parts: ['body'] })).toMatchObject({ revision: 2, parts: ['body'] });
  await secrets.put('b', secret);
  const names: string[] = [];
  for await (const { name } of secrets.list()) names.push(name);
  expect(names).toEqual(['a', 'b']);
  const network = { mode: 'allow_list', rules: [{ host: 'a.example' }] };
  const sandbox = await sandboxes.create({ network, secrets: [{ name: 'a', variable: 'TOKEN' }] });
  expect((await secrets.get('a')).usedBy).toEqual([sandbox.id]);
  expect((await sandbox.run('echo $TOKEN')).stdout).toMatch(/^sk-\w+\n$/);
  await expect(secrets.delete('a')).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  await secrets.delete('a', { force: true });
  await secrets.delete('b');
  await expect(secrets.get('a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await sandbox.destroy();
});

it('a value is asked for on a terminal, and not shown', async () => {
  const terminal = Tmux.start(`${CLI} secret set typed --host a.example; echo "code=$?"; exec cat`, {
    PADDOCK_URL: served.url,
    HOME: '/nonexistent',
  });
  await terminal.shows('value of typed:');
  terminal.line('a-typed-value');
  await terminal.shows('code=0');
  expect(terminal.screen()).toContain('typed, revision 1');
  expect(terminal.screen()).not.toContain('a-typed-value');
  await served.paddock().secrets.delete('typed');
});

it('a paste of several lines is refused, and none of them is left for the shell', async () => {
  const terminal = Tmux.start(`${CLI} secret set typed --host a.example; echo "code=$?"; exec cat`, {
    PADDOCK_URL: served.url,
    HOME: '/nonexistent',
  });
  await terminal.shows('value of typed:');
  terminal.line('first-line\nsecond-line');
  await terminal.shows(/code=1$/m);
  expect(terminal.screen()).toContain('several lines');
  expect(terminal.screen()).not.toMatch(/first-line|second-line/);
});

it('refused names are shown as they happen, and can be allowed by the command that exec names', async () => {
  const { sandboxes } = served.paddock();
  const sandbox = await sandboxes.create({ network: { mode: 'allow_list', rules: [{ host: 'a.example' }] } });
  const command = 'getent ahostsv4 b.example; true';
  const { stderr } = await runCli(['exec', sandbox.id, '--', 'sh', '-c', command], { url: served.url });
  expect(stderr).toContain(`b.example (not_allowed); to allow: paddock network allow ${sandbox.id} b.example`);
  expect((await run(`network allow ${sandbox.id} b.example`)).stdout).toBe('allow_list, 2 rules\n');
  for await (const { connection } of sandbox.network.watch({ deniedOnly: true })) {
    expect(connection).toMatchObject({ host: 'b.example', protocol: 'dns', allowed: false });
    break;
  }
  const { child, ended } = start(['network', 'watch', '--denied', sandbox.id], { url: served.url });
  await once(child.stdout!, 'data');
  await sandbox.stop();
  const { code, stdout } = await ended;
  expect([code, stdout]).toEqual([0, expect.stringMatching(/refused {2}dns {2}b\.example {2}not_allowed/)]);
  await sandbox.destroy();
});

it('redacted files are shown as commands read them, and rules let commands write them', async () => {
  putAll(directory, { '.env': 'TOKEN=a-long-value\n', f: 'text' });
  const sandbox = await served.paddock().sandboxes.create({ from: directory, rules: { write: ['**'] } });
  expect((await run(`rules add ${sandbox.id} --merge write:f`)).stderr).toContain('--merge needs a rule with redacted');
  await run(`rules add ${sandbox.id} --priority 1001 --merge redacted:.env`);
  expect((await run(`rules get ${sandbox.id}`)).stdout).toMatch(/redacted, merge +\.env/);
  const { stdout } = await run(`rules preview ${sandbox.id} ./.env`);
  expect(stdout).toMatch(/^TOKEN=\w*pdk\w{24}\n$/);
  expect((await sandbox.run('cat .env; echo MORE=1 >>.env; tail -n1 .env')).stdout).toBe(`${stdout}MORE=1\n`);
  const { stderr } = await run(`rules preview ${sandbox.id} f`);
  expect(stderr).toContain('no rule with "redacted" decides for f');
  await sandbox.destroy();
});
