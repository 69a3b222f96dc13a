import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RestClient } from '../../contract/rest-client.ts';
import { EVERYTHING } from '../../contract/rules.ts';
import { serverOfFile } from '../../contract/use-server.ts';
import { runCli } from './run-cli.ts';

const BUNDLE = join(resolve(import.meta.dirname, '../../..'), 'dist/paddock.mjs');
const UPPER = `
import socket
server = socket.create_server(('127.0.0.1', 7201))
while True:
    connection, _ = server.accept()
    received = b''
    while data := connection.recv(65536):
        received += data
    connection.sendall(received.upper())
    connection.close()`;

const served = serverOfFile();
let client: RestClient;
let url: string;
let sandbox_id: string;

beforeAll(async () => {
  url = served.url;
  client = new RestClient(served.server.httpAddress);
  const { id: codebase_id } = await client.call('CreateCodebase', { name: 'c', owner_id: 'me' });
  ({ id: sandbox_id } = await client.call('CreateSandbox', { codebase_id, permissions: EVERYTHING }));
  await client.call('StartProcess', { sandbox_id, argv: ['python3', '-c', UPPER] });
  await client.call('WaitPort', { sandbox_id, port: 7201, wait: 20_000 });
});

afterAll(() => client?.close());

/** A port of this machine that was free just now. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}

/** Resolves when it listens. */
async function forwarding(ports: string): Promise<{ child: ChildProcess; said: () => string }> {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', PADDOCK_URL: url };
  const child = spawn(process.execPath, [BUNDLE, 'port', 'forward', sandbox_id, ports], { env });
  let text = '';
  child.stderr.on('data', (data) => {
    text += data;
  });
  while (!text.includes('of the sandbox')) {
    if (child.exitCode !== null) throw new Error(text);
    await once(child.stderr, 'data');
  }
  return { child, said: () => text };
}

async function ask(port: number, text: string | Buffer): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(text);
  let answer = '';
  for await (const piece of socket.setEncoding('latin1')) answer += piece;
  return answer;
}

it('carries connections to a port of a sandbox, with the end of each direction, until ^C', async () => {
  const port = await freePort();
  const { child } = await forwarding(`7201:${port}`);
  const large = Buffer.alloc(3_000_000, 'abc');
  const answers = await Promise.all([ask(port, 'hello'), ask(port, large)]);
  expect(answers[0]).toBe('HELLO');
  expect(answers[1]).toBe(large.toString().toUpperCase());
  expect(await client.call('GetPort', { sandbox_id, port: 7201 })).toMatchObject({ access: 'key' });
  child.kill('SIGINT');
  expect((await once(child, 'exit'))[0]).toBe(0);
  await expect(client.call('GetPort', { sandbox_id, port: 7201 })).rejects.toThrow('is not open');
});

it('leaves an open port open, and says why a connection fails', async () => {
  const { link_token } = await client.call('OpenPort', { sandbox_id, port: 7202, access: 'link' });
  const port = await freePort();
  const { child, said } = await forwarding(`7202:${port}`);
  await expect(ask(port, 'x')).rejects.toThrow('ECONNRESET');
  while (!said().includes('nothing listens on port 7202')) await once(child.stderr!, 'data');
  child.kill('SIGTERM');
  await once(child, 'exit');
  const page = `${url}/v1/sandboxes/${sandbox_id}/ports/7202/proxy/?paddock_token=${link_token}`;
  expect((await fetch(page)).status).toBe(502);
});

it('refuses what is no port, and a port of this machine that is in use', async () => {
  const taken = served.server.httpAddress.split(':')[1];
  const inUse = await runCli(['port', 'forward', sandbox_id, `7201:${taken}`], { url });
  expect(inUse).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is in use') });
  expect((await runCli(['port', 'forward', sandbox_id, '0'], { url })).stderr).toContain('from 1 to 65535');
  expect((await runCli(['port', 'forward', sandbox_id, '1:2:3'], { url })).stderr).toContain('PORT:LOCAL-PORT');
});
