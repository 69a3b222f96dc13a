import { once } from 'node:events';
import { request } from 'node:http';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { RestClient } from './rest-client.ts';
import { EVERYTHING } from './rules.ts';
import { serverOfFile } from './use-server.ts';

const MODULES = resolve(import.meta.dirname, '../../node_modules');
const PORT = 5173;

const served = serverOfFile({
  config: { server: { preview_domain: 'localhost' }, runtime: { read_only_paths: [MODULES] } },
});
let client: RestClient;

beforeAll(async () => {
  client = new RestClient(served.server.httpAddress);
});
afterAll(() => client?.close());

/** What the development server of Vite answers at the host name of its port. */
async function page(host: string, path: string): Promise<string> {
  const [address = '', port] = served.server.httpAddress.split(':');
  const sent = request({ host: address, port, path, headers: { host, accept: '*/*' } }).end();
  const [answer] = await once(sent, 'response');
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += piece;
  return answer.statusCode === 200 ? text : `${answer.statusCode} ${text}`;
}

it('a development server of Vite works at the host name of its port, with its hot reload', async () => {
  const { id: codebase_id } = await client.call('CreateCodebase', { name: 'app', owner_id: 'me' });
  await client.upload(codebase_id, 'index.html', '<script type="module" src="/main.js"></script>');
  await client.upload(codebase_id, 'main.js', 'export const text = "one"; import.meta.hot.accept();');
  const { id: sandbox_id } = await client.call('CreateSandbox', { codebase_id, permissions: EVERYTHING });
  const argv = ['node', `${MODULES}/vite/bin/vite.js`, '--host', '127.0.0.1', '--port', String(PORT), '--strictPort'];
  await client.call('StartProcess', { sandbox_id, process_id: 'vite', argv });
  await client.call('WaitPort', { sandbox_id, port: PORT, wait: 60_000 });
  const { url } = await client.call('OpenPort', { sandbox_id, port: PORT });
  const { host } = new URL(url);
  expect(await page(host, '/')).toContain('/@vite/client');
  expect(await page(host, '/main.js')).toContain('"one"');
  const token = /const wsToken = "([^"]+)"/.exec(await page(host, '/@vite/client'))?.[1];
  const socket = new WebSocket(`ws://${served.server.httpAddress}/?token=${token}`, 'vite-hmr', {
    headers: { host, origin: `http://${host}` },
  });
  const messages: { type: string; updates?: { path: string }[] }[] = [];
  const told = (type: string) =>
    new Promise<void>((done) => {
      const look = () => messages.some((each) => each.type === type) && done();
      socket.on('message', look);
      look();
    });
  socket.on('message', (data) => messages.push(JSON.parse(data.toString())));
  await told('connected');
  await client.call('Exec', { sandbox_id, command: 'sed -i s/one/two/ main.js' });
  await told('update');
  expect(messages.find(({ type }) => type === 'update')?.updates).toMatchObject([{ path: '/main.js' }]);
  expect(await page(host, '/main.js')).toContain('"two"');
  socket.terminate();
});
