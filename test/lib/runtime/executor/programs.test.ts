import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { useBwrap } from '../bwrap/fixture.ts';
import { type Result, run } from '../run.ts';

const bwrap = useBwrap();
let box: RunningSandbox;
let id: string;

beforeAll(async () => {
  const spec = bwrap.spec();
  id = spec.id;
  box = await bwrap.runtime.launch(spec);
});

const sh = (command: string, env: Record<string, string> = {}): Promise<Result> => run(box, command, { env });

describe('a command', () => {
  it('commits as the agent of its sandbox, unless something else says who', async () => {
    const commit = 'git commit -q --allow-empty -m a && git log -1 --format="%an <%ae> %cn"';
    const repository = 'rm -rf /tmp/r; git init -q /tmp/r && cd /tmp/r && ';
    expect(await sh(`${repository}${commit}`)).toMatchObject({ stdout: `agent <agent@${id}> agent\n`, exitCode: 0 });
    expect(await sh(`${repository}${commit}`, { GIT_AUTHOR_NAME: 'Ann' })).toMatchObject({
      stdout: `Ann <agent@${id}> agent\n`,
    });
    expect(await sh(`${repository}git config user.email a@b && ${commit}`)).toMatchObject({
      stdout: 'agent <a@b> agent\n',
    });
  });

  it('of git that needs a network fails at once and asks nothing', async () => {
    const push = await sh(
      'rm -rf /tmp/p; git init -q /tmp/p; cd /tmp/p; git commit -q --allow-empty -m a; git push https://git.example/x HEAD',
    );
    expect(push).toMatchObject({ stdout: '', exitCode: 128 });
    expect(push.stderr).toMatch(/^fatal: unable to access 'https:.*Could not resolve host: git.example\n$/);
  });

  it.each([
    ['sudo ls', 1, /^sudo: this sandbox has no root user: run the command without sudo, .*\n$/],
    ['apt-get install -y jq', 100, /^apt-get: packages cannot be installed in this sandbox, .*\n$/],
    ['apt -q update', 100, /^apt: packages cannot be installed in this sandbox, .*\n$/],
  ])('%s answers one sentence', async (command, exitCode, sentence) => {
    expect(await sh(command)).toMatchObject({ stdout: '', stderr: expect.stringMatching(sentence), exitCode });
  });

  it('reaches the program of the image behind another one of its name', async () => {
    const own =
      'mkdir -p /tmp/own; printf "#!/bin/sh\\necho own \\"\\$@\\"" > /tmp/own/apt-get; chmod +x /tmp/own/apt-get';
    const path = 'PATH=/run/agent/apt:/tmp/own:$PATH';
    expect(await sh(`${own}; ${path} apt-get --version x`)).toMatchObject({ stdout: 'own --version x\n' });
    expect(await sh('PATH=/run/agent/apt; apt-get --version')).toMatchObject({
      stderr: 'apt-get: not found\n',
      exitCode: 127,
    });
  });

  it('reaches the program of the image also through links to the server’s program in PATH', async () => {
    const links = 'mkdir -p /tmp/x /tmp/y /tmp/z; for d in x y; do ln -sf /run/agent/npm/npm /tmp/$d/npm; done';
    const own = 'printf "#!/bin/sh\\necho own \\"\\$@\\"" > /tmp/z/npm; chmod +x /tmp/z/npm';
    for (const path of ['/tmp/x:/run/agent/npm:/tmp/y:/tmp/z', '/run/agent/npm:/tmp/x:/tmp/y:/tmp/z']) {
      const result = await run(box, `${links}; ${own}; PATH=${path}:$PATH npm x`, { timeoutMs: 20_000 });
      expect(result).toMatchObject({ stdout: 'own x\n', exitCode: 0 });
    }
  });

  it('can replace nothing that the server put into its PATH', async () => {
    const tried = 'echo x > /run/agent/bin/sudo; rm -f /run/agent/bin/sudo; touch /run/agent/bin/y';
    const { stderr, exitCode } = await sh(tried);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/denied|Read-only/)]);
    expect((await sh('sudo x')).exitCode).toBe(1);
  });
});

/** A stand-in for npm in the sandbox, found after the server's program. */
const NPM = [
  'mkdir -p /tmp/npm; printf "#!/bin/sh\\necho npm \\"\\$@\\"" > /tmp/npm/npm; chmod +x /tmp/npm/npm',
  'PATH=/run/agent/npm:/tmp/npm:$PATH; rm -rf /tmp/c; mkdir -p /tmp/c/node_modules; cd /tmp/c',
].join('; ');

describe('npm', () => {
  it('is told about the network when it would use one', async () => {
    expect(await sh(`${NPM}; npm install x`)).toMatchObject({
      stdout: 'npm install x\n',
      stderr: 'npm: this sandbox has no network: only what is in node_modules or in the npm cache can be used\n',
    });
    expect(await sh(`${NPM}; npm run test`)).toMatchObject({ stdout: 'npm run test\n', stderr: '' });
  });

  it('ci does not empty node_modules that it cannot fill again', async () => {
    expect(await sh(`${NPM}; npm ci`)).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/^npm: not run, .*: node_modules is unchanged\n$/),
      exitCode: 1,
    });
    for (const can of ['rmdir node_modules; npm ci', 'npm ci --cache=/tmp/k', 'npm_config_offline=false npm ci']) {
      expect(await sh(`${NPM}; ${can}`)).toMatchObject({ stdout: expect.stringMatching(/^npm ci/), exitCode: 0 });
    }
    const filled = 'mkdir -p .npm/_cacache/index-v5; npm_config_cache=.npm npm ci';
    expect(await sh(`${NPM}; ${filled}`)).toMatchObject({ stdout: 'npm ci\n' });
  });
});

it('tells whether a program has sent something to an address', async () => {
  const sending = [
    'import socket; socket.create_connection(("192.0.2.1", 80), 2)',
    'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 53))',
  ];
  for (const script of sending) {
    const other = await bwrap.launch();
    expect(await other.network()).toBe('absent');
    await run(other, `python3 -c '${script}'`);
    expect(await other.network()).toBe('tried');
    await other.stop();
    expect(await other.network()).toBe('absent');
  }
});
