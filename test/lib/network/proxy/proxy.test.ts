import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import type { NetworkPolicy, NetworkRule } from '../../../../lib/network/policy/policy.ts';
import { NetworkService } from '../../../../lib/network/worker/network-service.ts';
import { openWorld, type World } from '../../../network/world.ts';
import { useNamespaces } from '../namespace/namespaces.ts';

const { newNamespace } = useNamespaces();
let world: World;
let service: NetworkService;
let pid: number;
/** Requests that reached the servers outside. */
let reached: string[];

beforeAll(async () => {
  world = await openWorld((request, response) => {
    reached.push(`${request.method} ${request.headers.host ?? request.headers[':authority']} ${request.url}`);
    request.resume().on('end', () => response.end(`hello over ${request.httpVersion}\n`));
  });
});
afterAll(() => world.close());
beforeEach(async () => {
  reached = [];
  world.asked.length = 0;
  for (const name of ['api.test', 'other.test', 'evil.test', 'www.test']) world.names.set(name, () => world.address);
  service = new NetworkService({
    resolvers: [world.resolver],
    allowMax: undefined,
    inspection: undefined,
    descriptors: { listeners: 10_000, connections: 20_000 },
  });
  pid = (await newNamespace()).pid;
});
afterEach(() => service.end());

const allow = (host: string, more: Partial<NetworkRule> = {}): NetworkRule => ({
  action: 'allow',
  host,
  cidr: '',
  ports: [],
  methods: [],
  path_prefix: '',
  tls: '',
  ...more,
});
const list = (...rules: NetworkRule[]): NetworkPolicy => ({ mode: 'allow_list', rules, revision: 1 });
const open = (...rules: NetworkRule[]) => service.open('s', pid, list(...rules), []);
const sh = (script: string) => world.inNetworkOf(pid, script);
const curl = (args: string) => sh(`curl -sS --max-time 60 --cacert ${world.certificate} ${args} 2>&1`);
/** Sends bytes to a host and port in the sandbox, and returns what comes back until the end, or until `last` has come. */
const send = (host: string, port: number, bytes: string, wait = 5, last = 'no end') =>
  sh(`python3 -c '
import socket, sys
try:
    s = socket.create_connection(("${host}", ${port}), ${wait})
    s.settimeout(${wait})
    s.sendall(bytes.fromhex("${Buffer.from(bytes, 'latin1').toString('hex')}"))
    got = ""
    while True:
        b = s.recv(65536)
        if not b: print("[end]"); break
        got += b.decode("latin1")
        sys.stdout.write(b.decode("latin1")); sys.stdout.flush()
        if ${JSON.stringify(last)} in got: break
except Exception as e: print("[" + type(e).__name__ + "]")
'`);
const refusedCodes = async () => (await service.refusals('s')).map(({ host, port, code }) => `${host}:${port} ${code}`);

describe('programs that know no proxy', () => {
  it('reach allowed names over TLS, HTTP/2 and HTTP', async () => {
    await open(allow('api.test'));
    expect(await curl('https://api.test/a')).toBe('hello over 2.0\n');
    expect(await curl('--http1.1 https://api.test/b')).toBe('hello over 1.1\n');
    expect(await curl('http://api.test/c http://api.test/d')).toBe('hello over 1.1\nhello over 1.1\n');
    expect(reached).toEqual(['GET api.test /a', 'GET api.test /b', 'GET api.test /c', 'GET api.test /d']);
    const connections = () => service.connections('s');
    await expect.poll(async () => (await connections()).filter(({ closedAt }) => closedAt).length).toBeGreaterThan(1);
    const texts = (await connections()).map((each) => `${each.host}:${each.port} ${each.protocol} ${each.address}`);
    const [web, tls] = [`api.test:80 http ${world.address}`, `api.test:443 tls ${world.address}`];
    expect(texts).toEqual([web, tls, tls]);
    expect((await connections())[1]!.received).toBeGreaterThan(500);
    const told = async () => {
      const { events } = (await service.events('s', { start: 0, after: 0, read: {} }, false))!;
      return events.filter(({ connection }) => connection.port === 443).map(({ kind }) => kind);
    };
    await expect.poll(told).toEqual(expect.arrayContaining(['opened', 'closed']));
    expect((await told()).filter((kind) => kind === 'opened')).toHaveLength(2);
  });

  it('do not find names that are not allowed, and nothing of them is asked outside', async () => {
    await open(allow('api.test'));
    expect(await curl('https://evil.test/')).toContain('Could not resolve host');
    expect(world.asked).toEqual([]);
    expect(await refusedCodes()).toEqual(['evil.test:0 not_allowed']);
    const [refused] = await service.connections('s');
    expect(refused).toMatchObject({ host: 'evil.test', protocol: 'dns', allowed: false, count: expect.any(Number) });
    const { events } = (await service.events('s', { start: 0, after: 0, read: {} }, false))!;
    // A and AAAA are one event.
    expect(events.map(({ kind, connection }) => [kind, connection.host])).toEqual([['refused', 'evil.test']]);
  });

  it('reach other ports as they are, also of servers that speak first', async () => {
    await world.listen(2222, (socket) => socket.end('SSH-2.0-x\r\n'));
    await world.listen(7777, (socket) => socket.pipe(socket));
    await open(allow('api.test', { ports: [2222, 7777] }));
    expect(await send('api.test', 2222, '')).toBe('SSH-2.0-x\r\n[end]\n');
    expect(
      await sh(`head -c 3000000 /dev/zero | timeout 20 perl -MSocket -e '
      socket(S, AF_INET, SOCK_STREAM, 0); connect(S, pack_sockaddr_in(7777, inet_aton("api.test"))) or die $!;
      if (fork) { my $n = 0; while (sysread(S, my $b, 65536)) { $n += length $b } print $n }
      else { while (sysread(STDIN, my $b, 65536)) { syswrite(S, $b) } shutdown(S, 1) }'`),
    ).toBe('3000000');
    // No rule allows the web for it.
    expect(await send('api.test', 443, 'x')).not.toContain('hello');
  });

  it('are refused for another name in SNI or Host, with a sentence', async () => {
    await open(allow('api.test'));
    const address = (await sh('getent ahostsv4 api.test')).split(' ')[0];
    expect(await curl(`--resolve other.test:443:${address} https://other.test/`)).toMatch(/alert|unrecognized/i);
    expect(await curl(`-H 'Host: evil.test' -i http://api.test/`)).toMatch(
      /^HTTP\/1.1 403 .*x-paddock-network: refused; code=host_mismatch/s,
    );
    // No SNI.
    expect(await curl(`-k https://${address}/`)).toMatch(/alert|unrecognized/i);
    expect(await refusedCodes()).toEqual(['api.test:80 host_mismatch', 'api.test:443 sni_mismatch']);
    expect(reached).toEqual([]);
  });

  it('are refused private addresses behind an allowed name, and those of the server', async () => {
    const own = world.resolver.replace(/53$/, '1');
    for (const [name, address] of [
      ['a.api.test', '127.0.0.1'],
      ['b.api.test', '169.254.169.254'],
      ['c.api.test', own],
    ] as const) {
      world.names.set(name, () => address);
    }
    await open(allow('*.api.test'));
    for (const name of ['a', 'b', 'c']) {
      expect(await curl(`-i http://${name}.api.test/`)).toContain('x-paddock-network: refused; code=special_address');
      expect(await curl(`https://${name}.api.test/`)).toMatch(/alert/);
    }
    const refusals = (await service.refusals('s')).map(({ host, address, code }) => `${host} ${address} ${code}`);
    expect(new Set(refusals)).toEqual(
      new Set([
        'a.api.test 127.0.0.1 special_address',
        'b.api.test 169.254.169.254 special_address',
        `c.api.test ${own} special_address`,
      ]),
    );
  });

  it('get the address that was checked, although the name has another one at the next question', async () => {
    let asked = 0;
    world.names.set('www.test', () => (asked++ === 0 ? world.address : '127.0.0.1'));
    await open(allow('www.test'));
    expect(await curl('http://www.test/')).toBe('hello over 1.1\n');
    expect(await curl('http://www.test/')).toBe('hello over 1.1\n');
    expect(asked).toBe(1);
  });
});

describe('plain HTTP', () => {
  const requests = async (bytes: string) => send('api.test', 80, bytes, 1);
  const get = (path: string, host = 'api.test', more = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;

  it('checks each request of a connection', async () => {
    await open(allow('api.test'));
    const three = get('/1') + get('/2', 'evil.test') + get('/3', 'api.test', 'Connection: close\r\n');
    const answers = await send('api.test', 80, three, 30);
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403', 'HTTP/1.1 200']);
    expect(reached).toEqual(['GET api.test /1', 'GET api.test /3']);
  });

  it.each([
    [
      'both lengths',
      'POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde'],
    ['obs-fold', 'GET / HTTP/1.1\r\nHost: api.test\r\nX: a\r\n b\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost: api.test\r\nContent-Length : 4\r\n\r\nabcd'],
    [
      'a bad chunk size',
      'POST / HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n',
    ],
    [
      'a chunk size that overflows',
      'POST / HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\na',
    ],
    ['another coding', 'POST / HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['chunked twice', 'POST / HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: api.test\r\nHost: evil.test\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['no host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['another port', 'GET / HTTP/1.1\r\nHost: api.test:8080\r\n\r\n'],
    ['a user in the host', 'GET / HTTP/1.1\r\nHost: api.test@evil.test\r\n\r\n'],
    ['another host in the URL', 'GET http://evil.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n'],
    ['another host in Host', 'GET http://api.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
    ['lines that end with LF', 'GET / HTTP/1.1\nHost: evil.test\n\n'],
    ['an empty line first', '\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/0.9', 'GET /\r\n\r\n'],
    ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n'],
    ['a path in CONNECT', 'CONNECT api.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n'],
    ['a null byte', 'GET /\0 HTTP/1.1\r\nHost: api.test\r\n\r\n'],
    ['garbage', '\x01\x02\x03\x04'],
    ['a cut ClientHello', `\x16\x03\x01\x00\x05\x02${'\0'.repeat(20)}`],
  ])('refuses %s', async (_, bytes) => {
    await open(allow('api.test'));
    expect(await requests(bytes)).not.toMatch(/hello over| 200 /);
    expect(reached).toEqual([]);
  });

  it('checks methods and paths', async () => {
    await open(allow('api.test', { methods: ['GET'], path_prefix: '/v1' }));
    expect(await curl('http://api.test/v1/x')).toBe('hello over 1.1\n');
    for (const args of ['http://api.test/v2', '-d x http://api.test/v1/x', '--path-as-is http://api.test/v1/../v2']) {
      expect(await curl(args)).toMatch(/^paddock: refused by the network policy/);
    }
    // Nothing of it can be seen in TLS.
    expect(await curl('https://api.test/v1')).toMatch(/alert/);
    expect(reached).toEqual(['GET api.test /v1/x']);
  });

  it('passes bodies of all kinds on', async () => {
    const bodies: string[] = [];
    world.http.removeAllListeners('request');
    world.http.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      bodies.push(
        `${request.method} ${Buffer.concat(chunks).length} ${request.headers['transfer-encoding'] ?? request.headers['content-length']}`,
      );
      response.end('ok\n');
    });
    await open(allow('api.test'));
    await curl('-d abc http://api.test/');
    await curl('-X POST http://api.test/');
    expect(await sh(`head -c 3000000 /dev/zero | curl -sS -T - -H 'Expect: 100-continue' http://api.test/`)).toBe(
      'ok\n',
    );
    await curl('-X DELETE http://api.test/');
    expect(bodies).toEqual(['POST 3 3', 'POST 0 0', 'PUT 3000000 chunked', 'DELETE 0 undefined']);
  });

  it('passes WebSockets, and takes other upgrades for requests', async () => {
    const sockets = new WebSocketServer({ server: world.http });
    onTestFinished(() => void sockets.close());
    sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(`got ${message}`)));
    await open(allow('api.test'));
    const handshake =
      'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';
    // A masked text frame with the mask 0.
    const answers = await send('api.test', 80, `${get('/', 'api.test', handshake)}\x81\x82\0\0\0\0hi`, 60, 'got hi');
    expect(answers).toMatch(/^HTTP\/1.1 101 .*got hi/s);
    expect(await send('api.test', 80, get('/', 'evil.test', handshake))).toMatch(/^HTTP\/1.1 403 /);
    const h2c = 'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings, close\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
    expect(await send('api.test', 80, get('/', 'api.test', h2c))).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('the proxy', () => {
  const proxied = (args: string) => curl(`-x http://127.0.0.1:3128 ${args}`);

  it('passes CONNECT and absolute URLs to allowed names', async () => {
    await open(allow('api.test'));
    expect(await proxied('https://api.test/a')).toBe('hello over 2.0\n');
    expect(await proxied('http://api.test/b http://api.test/c')).toMatch(
      /^(ok|hello over 1.1)\n(ok|hello over 1.1)\n$/,
    );
  });

  it('refuses other names, ports and addresses with a sentence', async () => {
    await open(allow('api.test'));
    expect(await proxied('-i http://evil.test/')).toMatch(
      /^HTTP\/1.1 403 .*x-paddock-network: refused; code=not_allowed.*evil.test|No rule/s,
    );
    for (const url of [
      'https://evil.test/',
      'https://api.test:8443/',
      'https://169.254.169.254/',
      'https://127.0.0.1/',
      'https://[::ffff:127.0.0.1]/',
    ]) {
      expect(await proxied(url)).toContain('403');
    }
    expect(await proxied('--connect-to api.test:443:api.test:443 -k https://other.test/')).toContain('403');
    expect(
      await sh(
        `curl -sS -k -x http://127.0.0.1:3128 --connect-to other.test:443:api.test:443 https://other.test/ 2>&1`,
      ),
    ).toMatch(/unrecognized/);
    expect(world.asked).not.toContain('evil.test');
    expect(await refusedCodes()).toContain('api.test:443 sni_mismatch');
  });

  it('takes a fake address in CONNECT for its name', async () => {
    await open(allow('api.test'));
    const address = (await sh('getent ahostsv4 api.test')).split(' ')[0];
    expect(await proxied(`--connect-to api.test:443:${address}:443 https://api.test/`)).toBe('hello over 2.0\n');
  });
});

describe('changes of a policy', () => {
  beforeAll(() => world.listen(7778, (socket) => socket.pipe(socket)));

  it('cuts what is no longer allowed before it resolves', async () => {
    await open(allow('api.test', { ports: [443, 7778] }), allow('other.test', { ports: [7778] }));
    const hold = (host: string) => send(host, 7778, 'hello', 60);
    const [cut, kept] = [hold('api.test'), hold('other.test')];
    await expect
      .poll(async () => (await service.connections('s')).filter(({ received }) => received === 5).length)
      .toBe(2);
    await service.update('s', list(allow('other.test', { ports: [7778] })), []);
    expect(
      (await service.connections('s')).filter(({ closedAt }) => closedAt === undefined).map(({ host }) => host),
    ).toEqual(['other.test']);
    expect(await cut).toBe('hello[ConnectionResetError]\n');
    await service.close('s');
    expect(await kept).toBe('hello[ConnectionResetError]\n');
  });

  it('opens ports and names that are new', async () => {
    await open(allow('api.test'));
    expect(await send('api.test', 7778, 'x')).toContain('Error');
    await service.update('s', list(allow('other.test', { ports: [7778] })), []);
    expect(await curl('http://api.test/')).toContain('Could not resolve');
    expect(await send('other.test', 7778, 'x', 60, 'x')).toBe('x');
    await service.update('s', { mode: 'none', rules: [], revision: 2 }, []);
    expect(await send('other.test', 7778, 'x', 1)).not.toContain('x[');
  });
});

describe('addresses', () => {
  it('are reached by a rule with their network, or in mode open', async () => {
    await open(allow('', { cidr: `${world.address}/32` }));
    expect(await curl(`http://${world.address}/`)).toMatch(/ok|hello/);
    expect(await curl(`http://${world.otherAddress}/`)).toMatch(/Could not connect|Failed to connect|unreachable/i);
    await service.update('s', { mode: 'open', rules: [{ ...allow('evil.test'), action: 'deny' }], revision: 2 }, []);
    expect(await curl(`http://${world.otherAddress}/`)).toMatch(/ok|hello/);
    expect(await curl(`-H 'Host: evil.test' http://${world.otherAddress}/`)).toContain('denies it');
    expect(await curl('http://evil.test/')).toContain('Could not resolve');
    expect(await curl('http://169.254.169.254/')).toContain('paddock: refused');
    expect(await curl('--http2 https://www.test/')).toBe('hello over 2.0\n');
  });
});
