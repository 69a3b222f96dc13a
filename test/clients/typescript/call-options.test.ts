import { expect, it } from 'vitest';
import { ConnectionFailedError, Paddock, RequestTimeoutError } from '../../../clients/typescript/src/index.ts';
import { type Answer, cut, fakeServer, json } from './fake-server.ts';

const silent: Answer = () => undefined;
const stalled: Answer = (res) => {
  res.writeHead(200, { 'content-type': 'application/octet-stream' });
  res.write('begun');
};
const get = { sandboxId: 'sb_1' };

it('a call whose answer does not come fails after the time of the client, and is repeated', async () => {
  const { url, seen } = await fakeServer(silent, json({ id: 'sb_1' }));
  expect(await new Paddock({ url, timeout: '200ms' }).api.getSandbox(get)).toEqual({ id: 'sb_1' });
  expect(seen.length).toBeGreaterThan(1);
});

it('a call has a time of its own', async () => {
  const { url } = await fakeServer(silent);
  const call = new Paddock({ url, timeout: '1h' }).api.getSandbox(get, { timeout: '20ms', maxRetries: 1 });
  await expect(call).rejects.toThrow(RequestTimeoutError);
});

it('a call has a number of repetitions of its own', async () => {
  const { url, seen } = await fakeServer(cut());
  const { api } = new Paddock({ url, maxRetries: 0 });
  await expect(api.getSandbox(get, { maxRetries: 1 })).rejects.toThrow(ConnectionFailedError);
  expect(seen.length).toBe(2);
});

it.each([true, false])('an answer that does not go on fails, too (read whole: %s)', async (whole) => {
  const { url } = await fakeServer(stalled);
  const { api } = new Paddock({ url, maxRetries: 0, timeout: '100ms' });
  const read = api.readFile({ ...get, path: 'a' }, { whole }).then((answer) => answer.text());
  await expect(read).rejects.toThrow(RequestTimeoutError);
});

it('a stream whose messages do not come any more fails', async () => {
  const first = `${JSON.stringify({ next: 3 })}\n`;
  const { url, seen } = await fakeServer((res) => void res.writeHead(200).write(first));
  const { api } = new Paddock({ url });
  const events = api.watchProcess({ ...get, processId: 'p' }, { timeout: '100ms', maxRetries: 0 });
  expect(await events.next()).toMatchObject({ value: { next: 3 } });
  await expect(events.next()).rejects.toThrow(RequestTimeoutError);
  expect(seen.length).toBe(1);
});

it('the time of the client is none of commands, which may say nothing for long', async () => {
  const { url } = await fakeServer((res, seen) => void setTimeout(() => json({ exit_code: 0 })(res, seen), 100));
  const { api } = new Paddock({ url, timeout: '20ms' });
  expect(await api.exec({ ...get, command: 'make' })).toEqual({ exitCode: 0 });
});

it('calls say which client sends them, unless the caller does', async () => {
  const { url, seen } = await fakeServer(json({}));
  await new Paddock({ url }).api.getCaller();
  await new Paddock({ url, headers: { 'User-Agent': 'mine' } }).api.getCaller();
  expect(seen.map(({ headers }) => headers['user-agent'])).toEqual([
    expect.stringMatching(/^paddock-sandbox\/\d+\.\d+\.\d+ typescript$/),
    'mine',
  ]);
});

it.each([undefined, null, 5, {}])('content that is %j is refused, and empties nothing', async (content) => {
  const { url, seen } = await fakeServer(json({ size: 0 }));
  const written = new Paddock({ url }).api.writeFile({ sandboxId: 'sb_1', path: 'a' }, content as never);
  await expect(written).rejects.toThrow(/^content must be text, bytes/);
  expect(seen).toEqual([]);
});
