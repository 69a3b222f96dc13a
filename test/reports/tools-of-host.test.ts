import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cli } from '../clients/cli/cli.ts';

/** A developer's home, closed to others, with a tool beside what is hers, and a project. */
const home = realpathSync(mkdtempSync(join(tmpdir(), 'paddock-home-')));
const node = join(home, '.nvm/versions/node/v1/bin');
const project = join(home, 'project');
const env = { HOME: home, PADDOCK_LOCAL_STATE: join(home, '.state'), PATH: `${node}:${process.env.PATH}` };
const run = (args: string[], script: string) =>
  cli(['run', '--from', project, ...args, '--', 'sh', '-c', script], { env });

beforeAll(() => {
  for (const path of [node, join(home, '.nvm/versions/node/v1/lib'), project]) mkdirSync(path, { recursive: true });
  writeFileSync(join(node, 'greet'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
  writeFileSync(join(home, '.npmrc'), 'token');
  writeFileSync(join(project, 'a'), 'a\n');
  chmodSync(home, 0o700);
});
afterAll(async () => {
  const { code } = await cli(['server', 'stop'], { env });
  rmSync(home, { recursive: true, force: true });
  expect(code).toBe(0);
});

it('run has the tools in PATH and says so, and nothing else of the home directory', async () => {
  const { code, stdout, stderr } = await run(['--apply', 'none'], `greet; ls -A ${home} ${home}/.nvm/versions/node`);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^hello\n(.|\n)*:\n\.nvm\nproject\n\n(.|\n)*:\nv1\n$/)]);
  expect(stderr).toMatch(/^paddock: tools of this machine, read-only: .*\.nvm\/versions\/node\/v1/m);
});

it('run --tools none has none of them', async () => {
  const { code, stderr } = await run(['--apply', 'none', '--tools', 'none'], 'greet');
  expect([code, stderr]).toEqual([127, expect.stringMatching(/greet: not found/)]);
});

it('run --tools PATH shows that path', async () => {
  const { stdout } = await run(['--apply', 'none', '--tools', join(home, '.npmrc')], `cat ${home}/.npmrc`);
  expect(stdout).toBe('token');
});

it('the command of run starts at the directory’s own path, so that paths that it writes hold here', async () => {
  const { code } = await run(
    ['--preset', 'full-access', '--apply', 'all'],
    'printf "#!/bin/sh\\ncat $PWD/a\\n" > tool; chmod +x tool',
  );
  expect(code).toBe(0);
  expect(execFileSync(join(project, 'tool'), { encoding: 'utf8' })).toBe('a\n');
});

it('run from a link to the project has its programs from the copy, and not the project as a tool', async () => {
  mkdirSync(join(project, 'bin'));
  mkdirSync(join(project, 'lib'));
  writeFileSync(join(project, 'bin/mine'), '#!/bin/sh\necho mine\n', { mode: 0o755 });
  symlinkSync(project, join(home, 'link'));
  const words = ['run', '--from', join(home, 'link'), '--apply', 'none', '--', 'sh', '-c', `mine; ls -A ${project}`];
  const { stdout, stderr } = await cli(words, { env: { ...env, PATH: `${project}/bin:${env.PATH}` } });
  expect([stdout, stderr]).toEqual(['mine\n', expect.stringMatching(/ls: cannot access .*project/)]);
});

it.each(['.state', '.state/server.json', '.config/paddock'])(
  'run --tools never shows ~/%s, which has keys',
  async (name) => {
    mkdirSync(join(home, '.config/paddock'), { recursive: true });
    const { code, stderr } = await run(['--apply', 'none', '--tools', join(home, name)], 'true');
    expect([code, stderr]).toEqual([125, expect.stringMatching(/would show state or keys of the server/)]);
  },
);
