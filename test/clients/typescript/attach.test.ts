import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import {
  ConflictError,
  ConnectionFailedError,
  Paddock,
  Process,
  type ProcessInfo,
} from '../../../clients/typescript/src/index.ts';

class FakeSocket extends EventTarget {
  static last: FakeSocket;
  binaryType = '';
  readyState = 1;
  bufferedAmount = 0;
  paused = false;
  readonly sent: unknown[] = [];

  constructor() {
    super();
    FakeSocket.last = this;
    queueMicrotask(() => this.dispatchEvent(new Event('open')));
  }

  send(frame: unknown): void {
    this.sent.push(frame);
  }

  close(code = 1000): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code, reason: '' }));
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  receive(byte: number): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: Uint8Array.of(1, byte).buffer }));
  }
}

it('what is sent after the end of a connection is an error, and its signal is forgotten', async () => {
  const { api } = new Paddock({ url: 'http://x', WebSocket: FakeSocket as never });
  const { signal } = new AbortController();
  const attachment = await new Process(api, { sandboxId: 'sb_1', processId: 'p' } as ProcessInfo).attach({ signal });
  attachment.write('a');
  expect([FakeSocket.last.sent.length, getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
  attachment.close();
  expect(() => attachment.write('b')).toThrow(ConnectionFailedError);
  expect(() => attachment.end()).toThrow(/is closed/);
  expect([FakeSocket.last.sent.length, getEventListeners(signal, 'abort').length]).toEqual([1, 0]);
});

it('output that nobody reads stays with the server, and nothing of it is lost', async () => {
  const { api } = new Paddock({ url: 'http://x', WebSocket: FakeSocket as never });
  const attachment = await new Process(api, { sandboxId: 'sb_1', processId: 'p' } as ProcessInfo).attach();
  const socket = FakeSocket.last;
  const paused: boolean[] = [];
  for (let sent = 0; sent < 300; sent++) {
    socket.receive(sent & 0xff);
    paused.push(socket.paused);
  }
  expect([paused[0], paused.at(-1)]).toEqual([false, true]);
  socket.bufferedAmount = 7;
  expect(attachment.unsent).toBe(7);
  const read: number[] = [];
  for await (const event of attachment) {
    if (event.type === 'output') read.push(event.data[0]!);
    if (read.length === 300) socket.receive(44);
    if (read.length === 301) break;
  }
  expect(read).toEqual(Array.from({ length: 301 }, (_, index) => index & 0xff));
  expect([socket.paused, socket.readyState]).toEqual([false, 3]);
});

it('tells a client that lost its place as the writer from one that lost its connection', async () => {
  const { api } = new Paddock({ url: 'http://x', WebSocket: FakeSocket as never });
  for (const [code, error] of [
    [4001, ConflictError],
    [1006, ConnectionFailedError],
  ] as const) {
    const attachment = await new Process(api, { sandboxId: 'sb_1', processId: 'p' } as ProcessInfo).attach();
    FakeSocket.last.close(code);
    await expect(async () => {
      for await (const _ of attachment);
    }).rejects.toThrow(error);
  }
});
