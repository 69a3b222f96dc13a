import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { ConnectionError, Paddock, Process } from '../../../clients/typescript/src/index.ts';

class FakeSocket extends EventTarget {
  static last: FakeSocket;
  binaryType = '';
  readyState = 1;
  readonly sent: unknown[] = [];

  constructor() {
    super();
    FakeSocket.last = this;
    queueMicrotask(() => this.dispatchEvent(new Event('open')));
  }

  send(frame: unknown): void {
    this.sent.push(frame);
  }

  close(): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code: 1000, reason: '' }));
  }
}

it('what is sent after the end of a connection is an error, and its signal is forgotten', async () => {
  const { api } = new Paddock({ url: 'http://x', WebSocket: FakeSocket as never });
  const { signal } = new AbortController();
  const attachment = await new Process(api, 'sb_1', 'p').attach({ signal });
  attachment.write('a');
  expect([FakeSocket.last.sent.length, getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
  attachment.close();
  expect(() => attachment.write('b')).toThrow(ConnectionError);
  expect(() => attachment.end()).toThrow(/is closed/);
  expect([FakeSocket.last.sent.length, getEventListeners(signal, 'abort').length]).toEqual([1, 0]);
});
