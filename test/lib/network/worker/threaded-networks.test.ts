import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../lib/log.ts';
import type { NetworkPolicy } from '../../../../lib/network/policy/policy.ts';
import { NetworkThread } from '../../../../lib/network/worker/network-thread.ts';
import { ThreadedNetworks } from '../../../../lib/network/worker/threaded-networks.ts';
import { openWorld, type World } from '../../../network/world.ts';
import { useNamespaces } from '../namespace/namespaces.ts';

const { newNamespace } = useNamespaces();
const threads: NetworkThread[] = [];
let world: World;
let networks: ThreadedNetworks;
/** What the thread runs. */
let script: string;

beforeAll(async () => {
  const entry = join(import.meta.dirname, '../../../../app/threads/network.ts');
  const bundle = { bundle: true, platform: 'node', format: 'iife', write: false } as const;
  script = (await build({ ...bundle, entryPoints: [entry] })).outputFiles[0]!.text;
  world = await openWorld((_, response) => response.end('hello\n'));
  world.names.set('api.test', () => world.address);
});
afterAll(() => world.close());
afterEach(async () => {
  await networks.end();
  threads.length = 0;
});

const failures: Error[] = [];
/** Starts of threads that fail. */
let failing = 0;
function start(): ThreadedNetworks {
  const options = {
    resolvers: [world.resolver],
    allowMax: undefined,
    inspection: undefined,
    descriptors: { listeners: 10_000, connections: 20_000 },
  };
  networks = new ThreadedNetworks((listeners) => {
    if (threads.length > 0 && failing-- > 0) throw new Error('no more threads');
    const failed = (error: Error) => failures.push(error);
    threads.push(new NetworkThread(() => script, options, { ...listeners, failed }));
    return threads.at(-1)!;
  }, silentLog);
  return networks;
}

const list = (...hosts: string[]): NetworkPolicy => {
  const more = { cidr: '', ports: [], methods: [], path_prefix: '', tls: '' };
  return { mode: 'allow_list', rules: hosts.map((host) => ({ action: 'allow', host, ...more })), revision: 1 };
};
const NONE: NetworkPolicy = { mode: 'none', rules: [], revision: 0 };
const get = (pid: number) => world.inNetworkOf(pid, 'curl -s --max-time 30 http://api.test/');

describe('the thread of the networks', () => {
  it('is not started for sandboxes without a network', async () => {
    const { pid } = await newNamespace();
    start();
    await networks.open('a', pid, NONE, []);
    await networks.update('a', NONE, []);
    expect([await networks.connections('a'), await networks.refusals('b')]).toEqual([[], []]);
    await networks.close('a');
    expect(threads).toEqual([]);
  });

  it('opens a network when its policy has one, and closes it when it has none', async () => {
    const { pid } = await newNamespace();
    start();
    await networks.open('a', pid, NONE, []);
    await networks.update('a', list('api.test'), []);
    expect(await get(pid)).toBe('hello\n');
    await networks.update('a', NONE, []);
    expect(await get(pid)).toBe('');
    await networks.update('a', list('api.test'), []);
    expect(await get(pid)).toBe('hello\n');
  });

  it('opens all networks again, with their policies, when it has ended', async () => {
    const [one, other] = [await newNamespace(), await newNamespace()];
    start();
    await networks.open('a', one.pid, list('api.test'), []);
    await networks.open('b', other.pid, list('other.test'), []);
    await networks.update('b', list('api.test'), []);
    expect(await get(one.pid)).toBe('hello\n');
    const held = networks.connections('a');
    await threads[0]!.end();
    await held.catch((error: Error) => expect(error.message).toContain('ended meanwhile'));
    await expect.poll(() => get(other.pid)).toBe('hello\n');
    await expect.poll(() => get(one.pid)).toBe('hello\n');
    expect(threads).toHaveLength(2);
    await networks.close('b');
    expect(await get(other.pid)).toBe('');
  });

  it('opens a network with its next change that could not be opened again', async () => {
    const { pid } = await newNamespace();
    start();
    await networks.open('a', pid, list('other.test'), []);
    failing = 1;
    await threads[0]!.end();
    await expect.poll(() => failing).toBe(0);
    await networks.update('a', list('api.test'), []);
    expect(await get(pid)).toBe('hello\n');
  });

  it('closes a network while it ends', async () => {
    const { pid } = await newNamespace();
    start();
    await networks.open('a', pid, list('api.test'), []);
    const ended = threads[0]!.end();
    await networks.close('a');
    await ended;
    expect(await get(pid)).toBe('');
  });

  it('goes on for other sandboxes after an error in a connection of one', async () => {
    const [broken, other] = [await newNamespace(), await newNamespace()];
    start();
    const policy = list('api.test');
    // No policy of the server is like this: it stands for a defect.
    const rules = [...policy.rules, { ...policy.rules[0], host: 5 as never }] as NetworkPolicy['rules'];
    await networks.open('a', broken.pid, { ...policy, rules }, []);
    await networks.open('b', other.pid, policy, []);
    const tries = [
      '-x http://127.0.0.1:3128 https://www.test/',
      'http://www.test/',
      '-p -x http://127.0.0.1:3128 http://www.test',
    ];
    for (const each of tries) await world.inNetworkOf(broken.pid, `curl -s --max-time 3 ${each}; :`);
    await expect.poll(() => failures.map(({ message }) => message)).toContainEqual(expect.stringContaining('is not a'));
    expect(await get(other.pid)).toBe('hello\n');
    expect(threads).toHaveLength(1);
  });

  it('forgets a network that cannot be opened', async () => {
    start();
    const { pid, end } = await newNamespace();
    await end();
    await expect(networks.open('a', pid, list('api.test'), [])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await networks.connections('a')).toEqual([]);
  });
});
