import { readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { run } from '../run.ts';
import { useBwrap } from './fixture.ts';

const bwrap = useBwrap();
const VARIABLES = 'env | grep -iE "proxy|npm_config_offline|PIP_NO_INDEX|^CA" | LC_ALL=C sort';
const OFFLINE = 'PIP_NO_INDEX=1\nnpm_config_offline=true\n';
const PROXY = 'http://127.0.0.1:3128';
const ONLINE =
  `HTTPS_PROXY=${PROXY}\nHTTP_PROXY=${PROXY}\nNO_PROXY=localhost,127.0.0.1,::1\n` +
  `http_proxy=${PROXY}\nhttps_proxy=${PROXY}\nno_proxy=localhost,127.0.0.1,::1\n`;
const variables = async (sandbox: RunningSandbox) => (await run(sandbox, VARIABLES)).stdout;

it('finds no names without a network, at once and not as a temporary failure, and knows that it was tried', async () => {
  const sandbox = await bwrap.launch();
  expect(await sandbox.network()).toBe('absent');
  const look = `perl -MSocket=:all -e 'my ($e) = getaddrinfo("example.org", "443"); print $e + 0'`;
  // EAI_NONAME
  expect(await run(sandbox, look)).toMatchObject({ stdout: '-2' });
  expect(await sandbox.network()).toBe('tried');
});

it('has the variables of a network in commands from its opening to its end, also in a ready sandbox', async () => {
  for (const sandbox of [await bwrap.launch(), await bwrap.launchReady()]) {
    expect(await variables(sandbox)).toBe(OFFLINE);
    sandbox.setNetwork({ CA: "it's here" });
    expect(await variables(sandbox)).toBe(`CA=it's here\n${ONLINE}`);
    expect(await sandbox.network()).toBe('present');
    sandbox.setNetwork({});
    expect(await variables(sandbox)).toBe(ONLINE);
    sandbox.setNetwork(undefined);
    expect(await variables(sandbox)).toBe(OFFLINE);
    expect(await sandbox.network()).toBe('absent');
  }
});

it('leaves variables of a request above those of the network, and sets them for programs, terminals and sessions', async () => {
  const sandbox = await bwrap.launch();
  sandbox.setNetwork({});
  const env = { http_proxy: 'mine', PIP_NO_INDEX: '2' };
  expect((await run(sandbox, 'echo $http_proxy $PIP_NO_INDEX', { env })).stdout).toBe('mine 2\n');
  expect((await run(sandbox, 'echo $https_proxy', { workdir: '/tmp', stdin: 'x' })).stdout).toBe(`${PROXY}\n`);
  expect((await run(sandbox, '', { argv: ['printenv', 'https_proxy'] })).stdout).toBe(`${PROXY}\n`);
  const terminal = { columns: 80, rows: 24 };
  expect((await run(sandbox, 'echo $https_proxy', { terminal })).stdout).toBe(`${PROXY}\r\n`);
  const long = `: ${'x'.repeat(9000)}; echo $https_proxy`;
  expect((await run(sandbox, long)).stdout).toBe(`${PROXY}\n`);
});

it('lets no program of the sandbox change the variables of later commands', async () => {
  const sandbox = await bwrap.launch();
  sandbox.setNetwork({});
  const { stdout } = await run(
    sandbox,
    'd=$(ls -d /run/*/ /*/ 2>/dev/null); for f in $(find / -xdev -name network -type f 2>/dev/null); do echo x >$f && echo $f; done',
  );
  expect(stdout).toBe('');
  expect(await variables(sandbox)).toBe(ONLINE);
});

it('names a process in the network of the sandbox while it runs', async () => {
  const [first, second] = [await bwrap.launch(), await bwrap.launchReady()];
  const networks = [first, second].map((each) => readlinkSync(`/proc/${each.networkPid()}/ns/net`));
  expect(new Set([...networks, readlinkSync('/proc/self/ns/net')]).size).toBe(3);
  expect(first.networkPid()).toBe(first.networkPid());
  await first.stop();
  expect(() => first.networkPid()).toThrow('the sandbox has ended');
  expect(() => first.setNetwork({})).toThrow();
});
