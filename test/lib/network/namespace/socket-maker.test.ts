import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startOf } from '../../../../lib/linux/process-start.ts';
import { createSocketMaker, type SocketMaker } from '../../../../lib/network/namespace/socket-maker.ts';
import { until } from '../../runtime/bwrap/fixture.ts';
import { useNamespaces } from './namespaces.ts';

const { newNamespace } = useNamespaces();
const directory = mkdtempSync('/tmp/paddock-namespace-');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const makers: SocketMaker[] = [];
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) each.close();
  await Promise.all(makers.splice(0).map((each) => each.close()));
});

function newMaker(...args: Parameters<typeof createSocketMaker>): SocketMaker {
  const maker = createSocketMaker(...args);
  makers.push(maker);
  return maker;
}

const maker = () => makers[0] ?? newMaker();
const NOTHING = { tcp: [], udp: [], routes: [] };
const at = (port: number, address = '0.0.0.0') => ({ address, port });
/** Connects to an address in the namespace and prints what it gets. */
const get = (address: string, port: number) =>
  `perl -MSocket -e 'socket(my $s, AF_INET, SOCK_STREAM, 0); connect($s, pack_sockaddr_in(${port}, inet_aton("${address}"))) or print("failed: $!"), exit; print <$s>'`;

/** Those of this process: also of other test files, and of makers of an earlier test that are about to end. */
function perls(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const status = statusOf(pid);
      // That of a worker thread which has ended stays a zombie: nobody waits for it.
      if (/^State:\tZ/m.test(status)) return false;
      return status.includes(`\nPPid:\t${process.pid}\n`) && status.startsWith('Name:\tperl\n');
    });
}

let others: number[];
beforeEach(() => {
  others = perls();
});
/** Processes of the socket makers of a test. */
const helpers = () => perls().filter((pid) => !others.includes(pid));

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}

const descriptors = () => readdirSync('/proc/self/fd').length;

function answering(servers: readonly Server[]): Server[] {
  for (const server of servers) {
    opened.push(server);
    server.on('connection', (socket) => socket.end(`you asked ${socket.localAddress}:${socket.localPort}\n`));
  }
  return [...servers];
}

describe('open', () => {
  it('makes listeners in the namespace of a process, for addresses that it has by a route', async () => {
    const namespace = await newNamespace();
    const wanted = { tcp: [at(443), at(80)], udp: [at(53, '127.0.0.1')], routes: ['198.18.0.0/15'] };
    const { servers, datagrams } = await maker().open(namespace.pid, wanted);
    answering(servers);
    opened.push(...datagrams);
    datagrams[0]!.on('message', (_, { port, address }) => datagrams[0]!.send('pong', port, address));

    expect(await namespace.run(get('198.18.3.4', 443))).toBe('you asked 198.18.3.4:443\n');
    expect(await namespace.run(get('127.0.0.1', 80))).toBe('you asked 127.0.0.1:80\n');
    expect(await namespace.run(get('198.20.0.1', 443))).toBe('failed: Network is unreachable');
    const ping = `perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); send($s, "ping", 0, pack_sockaddr_in(53, INADDR_LOOPBACK)); recv($s, my $x, 9, 0); print $x'`;
    expect(await namespace.run(ping)).toBe('pong');
  });

  it('listens on IPv6 beside IPv4, on the same port', async () => {
    const namespace = await newNamespace();
    const wanted = { tcp: [at(443), at(443, '::')], udp: [at(53, '::1')], routes: ['2001:db8::/32'] };
    const { servers, datagrams } = await maker().open(namespace.pid, wanted);
    answering(servers);
    opened.push(...datagrams);
    const script = `perl -MSocket=:all -e 'socket(my $s, AF_INET6, SOCK_STREAM, 0); connect($s, pack_sockaddr_in6(443, inet_pton(AF_INET6, "2001:db8::7"))) or die $!; print <$s>'`;
    expect(await namespace.run(script)).toBe('you asked 2001:db8::7:443\n');
  });

  it('is not seen in the network of the host', async () => {
    const namespace = await newNamespace();
    const { servers } = await maker().open(namespace.pid, { ...NOTHING, tcp: [at(7443)] });
    answering(servers);
    // No other program is given this port.
    const refused = await new Promise((resolve) => connect(7443, '127.0.0.1').on('error', resolve));
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('accepts nothing before the caller has the listener', async () => {
    const namespace = await newNamespace();
    await maker().routes(namespace.pid, ['10.0.0.0/8'], []);
    // Tries from before the ports are open.
    const tries = namespace.run(`for i in $(seq 500); do ${get('127.0.0.1', 443)} | grep asked && exit; done`);
    const { servers } = await maker().open(namespace.pid, { ...NOTHING, tcp: [at(443), at(80)] });
    answering(servers);
    expect(await tries).toBe('you asked 127.0.0.1:443\n');
  });

  it('opens nothing in a process that began at another time: its pid is used again', async () => {
    const { pid } = await newNamespace();
    const start = startOf(pid)!;
    expect(start).toMatch(/^\d+$/);
    expect(startOf(2 ** 22)).toBeUndefined();
    const wanted = { ...NOTHING, tcp: [at(443)] };
    const again = { pid, start: `${Number(start) - 1}` };
    await expect(maker().open(again, wanted)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(maker().routes(again, ['10.0.0.0/8'], [])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    for (const server of (await maker().open({ pid, start }, wanted)).servers) server.close();
  });

  it('opens all or nothing, and says which port a program of the sandbox has', async () => {
    const namespace = await newNamespace();
    const first = await maker().open(namespace.pid, { ...NOTHING, tcp: [at(8080, '127.0.0.1')] });
    const before = descriptors();
    const all = { tcp: [at(443), at(8080)], udp: [at(53)], routes: ['198.18.0.0/15'] };
    await expect(maker().open(namespace.pid, all)).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: 'port 8080 (0.0.0.0) is needed for the network, but a program of the sandbox listens on it',
    });
    expect(await namespace.run(get('127.0.0.1', 443))).toBe('failed: Connection refused');
    expect(await namespace.run(get('198.18.0.1', 443))).toBe('failed: Network is unreachable');
    for (const server of first.servers) server.close();
    answering((await maker().open(namespace.pid, all)).servers);
    expect(await namespace.run(get('198.18.0.1', 443))).toContain('198.18.0.1');
    // Node closes sockets in a later step.
    await expect.poll(descriptors).toBeLessThanOrEqual(before + 2);
  });

  it('refuses what is no address, port or route', async () => {
    const { pid } = await newNamespace();
    for (const address of ['', 'localhost', '1.2.3', '::1%lo', '127.0.0.1 ', '"', '1.1.1.1\n']) {
      const open = maker().open(pid, { ...NOTHING, tcp: [at(443, address)] });
      await expect(open, address).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    for (const port of [0, -1, 65_536, 1.5, Number.NaN]) {
      await expect(maker().connect(pid, port)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    for (const route of ['', '10.0.0.0', '10.0.0.0/33', '::/129', 'x/8', '10.0.0.0/8 t1.1.1.1/1', '+1.1.1.1/8']) {
      await expect(maker().routes(pid, [route], []), route).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    await expect(maker().open(0, NOTHING)).rejects.toThrow('no pid');
    const many = Array.from({ length: 1025 }, (_, index) => at(index + 1));
    await expect(maker().open(pid, { ...NOTHING, tcp: many })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('routes', () => {
  it('adds and removes routes, also for all addresses', async () => {
    const namespace = await newNamespace();
    answering((await maker().open(namespace.pid, { ...NOTHING, tcp: [at(80)] })).servers);
    await maker().routes(namespace.pid, ['10.1.0.0/16', '203.0.113.7/32'], []);
    expect(await namespace.run(get('10.1.255.1', 80))).toContain('10.1.255.1');
    expect(await namespace.run(get('203.0.113.7', 80))).toContain('203.0.113.7');
    expect(await namespace.run(get('203.0.113.8', 80))).toContain('unreachable');
    await maker().routes(namespace.pid, ['0.0.0.0/0', '203.0.113.7/32'], ['10.1.0.0/16', '10.9.0.0/16']);
    expect(await namespace.run(get('203.0.113.8', 80))).toContain('203.0.113.8');
    await maker().routes(namespace.pid, [], ['0.0.0.0/0']);
    expect(await namespace.run(get('10.1.255.1', 80))).toContain('unreachable');
    expect(await namespace.run(get('203.0.113.7', 80))).toContain('203.0.113.7');
  });
});

describe('connect', () => {
  const SERVE = `perl -MSocket=:all -e 'my ($f, $n) = @ARGV; socket(my $s, $f, SOCK_STREAM, 0); bind($s, $f == AF_INET ? pack_sockaddr_in(3000, INADDR_LOOPBACK) : pack_sockaddr_in6(3000, inet_pton(AF_INET6, "::1"))) or die $!; listen($s, $n); for (;;) { accept(my $c, $s); my $line = <$c>; print $c "got $line"; }'`;

  it('connects to a server on the loopback address inside, of IPv4 or IPv6', async () => {
    for (const family of ['2', '10']) {
      const namespace = await newNamespace();
      await maker().routes(namespace.pid, [], []);
      await namespace.run('ip link set lo up');
      namespace.start(`${SERVE} ${family} 5`);
      let socket: Socket | undefined;
      await until('the server', async () => {
        socket = await maker()
          .connect(namespace.pid, 3000)
          .catch(() => undefined);
        return socket !== undefined;
      });
      socket!.end('a line\n');
      expect(await text(socket!)).toBe('got a line\n');
    }
  });

  it('rejects with ECONNREFUSED where nothing listens', async () => {
    const { pid } = await newNamespace();
    await maker().open(pid, NOTHING);
    await expect(maker().connect(pid, 3000)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('waits for a server that does not accept no longer than some seconds, and holds up nobody else', async () => {
    const namespace = await newNamespace();
    const other = await newNamespace();
    await maker().open(namespace.pid, NOTHING);
    const full = `perl -MSocket -e 'socket(my $s, AF_INET, SOCK_STREAM, 0); bind($s, pack_sockaddr_in(3000, INADDR_ANY)); listen($s, 0); sleep 100'`;
    namespace.start(full);
    const failures: unknown[] = [];
    await until('its backlog is full', async () => {
      const attempt = maker().connect(namespace.pid, 3000);
      void attempt.catch((error) => failures.push(error));
      opened.push({ close: () => void attempt.then((socket) => socket.destroy()).catch(() => {}) });
      await maker().open(other.pid, NOTHING);
      return failures.some((error) => (error as { code?: string }).code === 'ETIMEDOUT');
    });
  });
});

describe('a process', () => {
  it('that has ended is refused', async () => {
    const namespace = await newNamespace();
    await namespace.end();
    await expect(maker().open(namespace.pid, NOTHING)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('of the host, or in the network of the host, is refused', async () => {
    const refusal = { code: 'FAILED_PRECONDITION', message: 'the sandbox shares the network of the host' };
    await expect(maker().open(process.pid, NOTHING)).rejects.toMatchObject(refusal);
    await expect(maker().connect(1, 22)).rejects.toMatchObject(refusal);
    const { pid } = await newNamespace('-pf');
    await expect(maker().open(pid, NOTHING)).rejects.toMatchObject(refusal);
  });
});

describe('the process of a socket maker', () => {
  it('stays in the network of the host, has no environment and only its channel', async () => {
    const { pid } = await newNamespace();
    await maker().open(pid, NOTHING);
    const [helper] = helpers();
    expect(readlinkSync(`/proc/${helper}/ns/net`)).toBe(readlinkSync('/proc/self/ns/net'));
    expect(readlinkSync(`/proc/${helper}/cwd`)).toBe('/');
    const names = readFileSync(`/proc/${helper}/environ`, 'latin1').split('\0').filter(Boolean);
    expect(names.map((each) => each.split('=')[0]).sort()).toEqual([
      'NODE_CHANNEL_FD',
      'NODE_CHANNEL_SERIALIZATION_MODE',
    ]);
    expect(readdirSync(`/proc/${helper}/fd`)).toEqual(['0', '1', '2', '3']);
  });

  it('is started again when it was killed, also in the middle of a request', async () => {
    const { pid } = await newNamespace();
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await maker().open(pid, NOTHING);
      const asked = maker().open(pid, { ...NOTHING, tcp: [at(443)] });
      for (const each of helpers()) process.kill(each, signal);
      for (const server of (await asked).servers) server.close();
    }
    answering((await maker().open(pid, { ...NOTHING, tcp: [at(443)] })).servers);
    await until('the others have ended', () => helpers().length === 1);
  });

  it('that ends at once makes calls fail', async () => {
    const path = join(directory, 'ending');
    writeFileSync(path, '#!/bin/sh\nexit 3\n');
    chmodSync(path, 0o755);
    await expect(newMaker(path).probe()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('is needed: without perl, or on another architecture, everything is FAILED_PRECONDITION', async () => {
    const { pid } = await newNamespace();
    const message = 'the network of sandboxes needs no-perl-here on the host, which is not installed';
    const refusal = { code: 'FAILED_PRECONDITION', message };
    const without = newMaker('no-perl-here');
    await expect(without.probe()).rejects.toMatchObject(refusal);
    await expect(without.open(pid, NOTHING)).rejects.toMatchObject(refusal);
    await expect(newMaker('perl', 'riscv64').probe()).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    await newMaker().probe();
  });

  it('ends when it is closed, and its calls fail', async () => {
    const { pid } = await newNamespace();
    const closing = newMaker();
    await closing.open(pid, NOTHING);
    const asked = closing.open(pid, NOTHING);
    await closing.close();
    await expect(asked).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(closing.probe()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await until('its end', () => helpers().length === 0);
  });

  it('serves many namespaces, and leaves no descriptors behind', async () => {
    const namespaces = await Promise.all(Array.from({ length: 20 }, () => newNamespace()));
    const round = async () => {
      const all = await Promise.all(
        namespaces.map(({ pid }) =>
          maker().open(pid, { tcp: [at(443), at(80)], udp: [at(53)], routes: ['198.18.0.0/15'] }),
        ),
      );
      for (const { servers, datagrams } of all) {
        await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
        for (const each of datagrams) each.close();
      }
    };
    await round();
    const before = descriptors();
    for (let count = 0; count < 10; count++) await round();
    await until('the sockets are closed', () => descriptors() <= before);
    expect(readdirSync(`/proc/${helpers()[0]}/fd`)).toEqual(['0', '1', '2', '3']);
  });

  it('works in a worker thread, and ends with it', async () => {
    const namespace = await newNamespace();
    const outfile = join(directory, 'worker.mjs');
    const contents = `
      import { parentPort } from 'node:worker_threads';
      import { createSocketMaker } from './lib/network/namespace/socket-maker.ts';
      const { servers } = await createSocketMaker().open(${namespace.pid}, { tcp: [{ address: '0.0.0.0', port: 443 }], udp: [], routes: [] });
      servers[0].on('connection', (socket) => socket.end('from a worker'));
      parentPort.postMessage('open');`;
    await build({
      stdin: { contents, resolveDir: process.cwd() },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
    });
    const worker = new Worker(outfile);
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    expect(await namespace.run(get('127.0.0.1', 443))).toBe('from a worker');
    await worker.terminate();
    await until('the end of its process', () => helpers().length === 0);
  });

  it('works without root, for a namespace of the same user', async () => {
    const outfile = join(directory, 'user.mjs');
    const contents = `
      import { spawn } from 'node:child_process';
      import { readFileSync } from 'node:fs';
      import { createSocketMaker } from './lib/network/namespace/socket-maker.ts';
      const child = spawn('unshare', ['-Unpf', '--kill-child', 'sleep', '20']);
      const children = () => readFileSync('/proc/' + child.pid + '/task/' + child.pid + '/children', 'latin1');
      while (children() === '') await new Promise((resolve) => setTimeout(resolve, 5));
      const pid = Number(children().split(' ')[0]);
      const maker = createSocketMaker();
      const { servers } = await maker.open(pid, { tcp: [{ address: '0.0.0.0', port: 443 }], udp: [], routes: ['198.18.0.0/15'] });
      servers[0].on('connection', (socket) => socket.end('from inside'));
      const socket = await maker.connect(pid, 443);
      for await (const part of socket) process.stdout.write(part);
      child.kill('SIGKILL');
      process.exit();`;
    await build({
      stdin: { contents, resolveDir: process.cwd() },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
    });
    chmodSync(directory, 0o755);
    const args = ['--reuid', '54321', '--regid', '54321', '--clear-groups', process.execPath, outfile];
    const program = spawn('setpriv', args, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'], timeout: 60_000 });
    expect(await text(program.stdout)).toBe('from inside');
  });

  it('fails without a trace while the server has no descriptors, and works again afterwards', async () => {
    const namespace = await newNamespace();
    const outfile = join(directory, 'short.mjs');
    const contents = `
      import { closeSync, openSync } from 'node:fs';
      import { createSocketMaker } from './lib/network/namespace/socket-maker.ts';
      const wanted = { tcp: [1, 2, 3, 4].map((port) => ({ address: '0.0.0.0', port })), udp: [], routes: [] };
      const maker = createSocketMaker();
      await maker.probe();
      const attempt = () => maker.open(${namespace.pid}, wanted).then(({ servers }) => servers.length, ({ code }) => code);
      const results = [];
      for (const left of [0, 3]) {
        const taken = [];
        try { for (;;) taken.push(openSync('/dev/null', 'r')); } catch {}
        for (const fd of taken.splice(0, left)) closeSync(fd);
        results.push(await attempt());
        for (const fd of taken) closeSync(fd);
      }
      console.log(...results, await attempt());
      process.exit();`;
    await build({
      stdin: { contents, resolveDir: process.cwd() },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
    });
    const command = ['-c', 'ulimit -n 100; exec "$0" "$1"', process.execPath, outfile];
    const program = spawn('sh', command, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 60_000 });
    expect(await text(program.stdout)).toBe('RESOURCE_EXHAUSTED RESOURCE_EXHAUSTED 4\n');
  });
});
