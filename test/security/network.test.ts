import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server as TcpServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { splitAddress } from '../contract/rest-client.ts';
import { python } from './python.ts';
import { attacks } from './suite.ts';

attacks('network', (target) => {
  const abstract = `paddock-attack-${process.pid}`;
  let listener: TcpServer;
  let holder: ChildProcess;
  let path: string;

  beforeAll(async () => {
    listener = createServer((socket) => socket.destroy()).listen(0, '0.0.0.0');
    await once(listener, 'listening');
    path = `/tmp/${abstract}.sock`;
    // Node cannot bind an abstract socket.
    const program = `
import socket, sys
a = socket.socket(socket.AF_UNIX); a.bind('\\0${abstract}'); a.listen()
b = socket.socket(socket.AF_UNIX); b.bind('${path}'); b.listen()
print('ready', flush=True); sys.stdin.read()
import os; os.unlink('${path}')`;
    holder = spawn('python3', ['-I', '-c', program], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(holder.stdout!, 'data');
  });

  afterAll(async () => {
    listener.close();
    const exited = once(holder, 'exit');
    holder.stdin?.end();
    await exited;
  });

  it('12: a sandbox reaches no socket of the host: abstract, in the file system, D-Bus, Docker', async () => {
    expect(readFileSync('/proc/net/unix', 'utf8')).toContain(`@${abstract}`);
    const sandbox = await target.scene.sandboxOn({});
    const addresses = [
      path,
      '/run/docker.sock',
      '/var/run/docker.sock',
      '/run/dbus/system_bus_socket',
      '/run/systemd/notify',
    ];
    const program = `
def reach(address): socket.socket(socket.AF_UNIX).connect(address)
print(json.dumps([attempt(reach, a) for a in ['\\0${abstract}', *json.loads(${JSON.stringify(JSON.stringify(addresses))})]]))`;
    const answers = await python<string[]>(target.scene, sandbox, program);
    expect(answers).toEqual(['ECONNREFUSED', ...addresses.map(() => 'ENOENT')]);
    expect(await target.scene.output(sandbox, `grep -c ${abstract.slice(0, 8)} /proc/net/unix; :`)).toBe('0\n');
  });

  it('13: a sandbox reaches no address: the server’s ports, the host’s, cloud metadata, the LAN, name servers', async () => {
    const { scene, server } = target;
    const sandbox = await scene.sandboxOn({});
    const { port } = listener.address() as { port: number };
    const ports = [server.httpAddress, server.grpcAddress].map((address) => splitAddress(address)[1]);
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const tcp = [
      ...[...ports, port].map((each) => ['127.0.0.1', each]),
      ...[...ports, port].map((each) => ['::1', each]),
      ...own
        .filter(({ scopeid }) => !scopeid)
        .flatMap(({ address }) => [...ports, port].map((each) => [address, each])),
      ...['169.254.169.254', 'fd00:ec2::254', '168.63.129.16', '100.100.100.200'].map((each) => [each, 80]),
      ...['10.0.0.1', '172.17.0.1', '192.168.0.1', '192.168.1.1', '8.8.8.8', '1.1.1.1'].map((each) => [each, 53]),
      ['2606:4700:4700::1111', 53],
    ];
    const program = `
reached = []
for address, port in json.loads(${JSON.stringify(JSON.stringify(tcp))}):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(family, kind); s.settimeout(2)
        # UDP to one's own loopback is no way out.
        if kind == socket.SOCK_DGRAM and address in ('127.0.0.1', '::1'): continue
        verdict = attempt(lambda: (s.connect((address, port)), s.send(b'x')))
        if verdict == 'allowed': reached.append((address, port, kind))
        s.close()
try: reached.append(socket.getaddrinfo('example.com', 80))
except OSError: pass
print(json.dumps(reached))`;
    expect(await python(scene, sandbox, program)).toEqual([]);
  });

  it('13: a sandbox has only its own loopback interface, and cannot create others', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const program = `
import fcntl
names = [n for _, n in socket.if_nameindex()]
s = socket.socket()
def set_flags(): fcntl.ioctl(s, 0x8914, struct.pack('16sH14x', b'lo', 0))
def bridge(): fcntl.ioctl(s, 0x89a0, b'br0\\0')
def packet(): socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
routes = open('/proc/net/route').read().count('\\n')
print(json.dumps([names, routes, attempt(set_flags), attempt(bridge), attempt(packet)]))`;
    expect(await python(target.scene, sandbox, program)).toEqual([['lo'], 1, 'EPERM', 'EPERM', 'EPERM']);
  });
});
