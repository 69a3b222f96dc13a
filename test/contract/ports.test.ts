import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { expect } from 'vitest';
import WebSocket from 'ws';
import { eventually, expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

/** Starts a server in the sandbox and waits until it listens. */
async function listen(scene: Scene, sandbox_id: string, port: number, program: string): Promise<void> {
  await scene.client.call('StartProcess', { sandbox_id, process_id: `p${port}`, argv: ['python3', '-c', program] });
  const found = await scene.client.call('WaitPort', { sandbox_id, port, wait: 20_000 });
  expect(found).toMatchObject({ listening: true });
}

const httpServer = (address: string, port: number) => `
import http.server, socket
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ':' in '${address}' else socket.AF_INET
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        size = int(self.headers['content-length'])
        body = self.rfile.read(size)
        self.send_response(200)
        self.send_header('content-length', str(size))
        self.end_headers()
        self.wfile.write(body)
Server(('${address}', ${port}), Handler).serve_forever()`;

const upperCase = (port: number) => `
import socket
server = socket.create_server(('127.0.0.1', ${port}))
while True:
    connection, _ = server.accept()
    received = b''
    while data := connection.recv(65536):
        received += data
    connection.sendall(received.upper())
    connection.close()`;

/** Greets by a WebSocket, with a frame that is not masked, and sends back the frame that it gets. */
const greeting = (port: number) => `
import base64, hashlib, socket
connection, _ = socket.create_server(('127.0.0.1', ${port})).accept()
stream = connection.makefile('rwb')
key = b''
while (line := stream.readline().strip()):
    name, _, value = line.partition(b': ')
    key = value if name.lower() == b'sec-websocket-key' else key
digest = base64.b64encode(hashlib.sha1(key + b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())
stream.write(b'HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\n')
stream.write(b'sec-websocket-accept: ' + digest + b'\\r\\n\\r\\n\\x81\\x05hello')
stream.flush()
_, size, *mask = stream.read(6)
text = bytes(each ^ mask[at % 4] for at, each in enumerate(stream.read(size & 127)))
stream.write(bytes([0x81, len(text)]) + text)
stream.flush()
connection.recv(1)`;

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

async function seesWebSocket(scene: Scene, sandbox_id: string): Promise<void> {
  await listen(scene, sandbox_id, 7106, greeting(7106));
  await scene.client.call('OpenPort', { sandbox_id, port: 7106 });
  const socket = new WebSocket(`ws://${scene.server.httpAddress}/v1/sandboxes/${sandbox_id}/ports/7106/proxy/`);
  const received: string[] = [];
  const both = new Promise<void>((resolve, reject) => {
    socket.once('close', () => reject(new Error(`it ended after ${received}`)));
    socket.on('message', (data) => received.push(data.toString()) === 2 && resolve());
  });
  await once(socket, 'open');
  socket.send('and back');
  await both;
  expect(received).toEqual(['hello', 'and back']);
  socket.terminate();
}

const cases: Case[] = [
  {
    name: 'reaches servers on the loopback addresses of a sandbox, and large bodies both ways',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      await listen(scene, sandbox_id, 7101, httpServer('127.0.0.1', 7101));
      await listen(scene, sandbox_id, 7102, httpServer('::1', 7102));
      const url = (port: number) =>
        `http://${scene.server.httpAddress}/v1/sandboxes/${sandbox_id}/ports/${port}/proxy/`;
      expect((await fetch(url(7101))).status).toBe(404);
      for (const port of [7101, 7102]) {
        const opened = await scene.client.call('OpenPort', { sandbox_id, port });
        expect(opened).toMatchObject({ port, access: 'key', link_token: '', expires_at: 0 });
        expect(`http://${scene.server.httpAddress}${opened.url}`).toBe(url(port));
        const body = Buffer.alloc(8 * 1024 * 1024, `${port} `);
        const answer = await fetch(url(port), { method: 'POST', body });
        expect(md5(new Uint8Array(await answer.arrayBuffer()))).toBe(md5(body));
      }
      await scene.client.call('OpenPort', { sandbox_id, port: 7103 });
      expect((await fetch(url(7103))).status).toBe(502);
      const listed = await scene.client.call('ListPorts', { sandbox_id, opened: true, listening: true });
      expect([listed.ports.map(({ port }) => port), listed.listening]).toEqual([
        [7101, 7102, 7103],
        [7101, 7102],
      ]);
      await scene.client.call('ClosePort', { sandbox_id, port: 7102 });
      await expectRefusal(scene.client.call('GetPort', { sandbox_id, port: 7102 }), 'NOT_FOUND', 'is not open');
      expect((await fetch(url(7102))).status).toBe(404);
      await scene.client.call('DeleteProcess', { sandbox_id, process_id: 'p7101' });
      await eventually('the end of the server', async () => (await fetch(url(7101))).status === 502);
      await scene.client.call('StopSandbox', { sandbox_id });
      expect((await fetch(url(7101))).status).toBe(400);
      expect(await scene.client.call('GetPort', { sandbox_id, port: 7101 })).toMatchObject({ port: 7101 });
    },
  },
  {
    name: 'cuts a download when its server is killed, and carries connections of TCP and WebSockets',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      await listen(scene, sandbox_id, 7104, httpServer('127.0.0.1', 7104));
      await listen(scene, sandbox_id, 7105, upperCase(7105));
      for (const port of [7104, 7105]) await scene.client.call('OpenPort', { sandbox_id, port });
      await scene.client.call('Exec', { sandbox_id, command: 'truncate -s 1G large' });
      const path = `${scene.server.httpAddress}/v1/sandboxes/${sandbox_id}/ports`;
      const answer = await fetch(`http://${path}/7104/proxy/large`);
      const reader = answer.body!.getReader();
      await reader.read();
      await scene.client.call('SignalProcess', { sandbox_id, process_id: 'p7104', signal: 'SIGKILL' });
      const rest = async () => {
        while (!(await reader.read()).done);
      };
      await expect(rest()).rejects.toThrow(/terminated|aborted/);
      const socket = new WebSocket(`ws://${path}/7105/connect`);
      const frames: string[] = [];
      socket.on('message', (data) => frames.push(data.toString()));
      await once(socket, 'open');
      socket.send(Buffer.from('hello'));
      socket.send('{"type":"eof"}');
      await once(socket, 'close');
      expect(frames.join('')).toBe('HELLO{"type":"eof"}');
      await seesWebSocket(scene, sandbox_id);
    },
  },
];

contract('Ports', cases);
