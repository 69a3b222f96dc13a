import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LateReplies } from '../../../lib/fuse/connection/late-replies.ts';
import { serveSyncs } from '../../../lib/fuse/connection/sync-thread.ts';
import { SyncThreads } from '../../../lib/fuse/connection/sync-threads.ts';
import { encodeRetrieveNothing } from '../../../lib/fuse/protocol/notifications.ts';
import { CONTROL_NODEID } from '../../../lib/fuse/session/control-node.ts';
import { Errno } from '../../../lib/linux/errno.ts';

const WAKE_UP = encodeRetrieveNothing(CONTROL_NODEID).toString('hex');

let home: string;
const ports: { close(): void }[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sync-threads-'));
});
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
  rmSync(home, { recursive: true });
});

function request(unique: number): Buffer {
  const header = Buffer.alloc(40);
  header.writeUInt32LE(unique, 8);
  return header;
}

function replyTo(unique: number, errno = 0): string {
  const reply = Buffer.alloc(16);
  reply.writeUInt32LE(16, 0);
  reply.writeInt32LE(-errno, 4);
  reply.writeUInt32LE(unique, 8);
  return reply.toString('hex');
}

/**
 * Sync threads, in this thread, whose syncs end with `errnos`. Files take the place of the device's two descriptors. `serve`:
 * what a thread does in place of that.
 */
function threads(errnos: readonly number[], serve?: (port: MessagePort) => void) {
  const device = join(home, 'device');
  const clone = join(home, 'clone');
  const fd = openSync(device, 'a');
  const late = new LateReplies();
  const started: number[] = [];
  const syncs = new SyncThreads(late, (index) => {
    started.push(index);
    const { port1, port2 } = new MessageChannel();
    ports.push(port1, port2);
    if (serve !== undefined) serve(port2);
    else serveSyncs({ role: 'fuse-sync', fd, syncs: port2 }, (sync) => ({ id: (sync as { id: number }).id, errnos }));
    return port1;
  });
  const written = () => [device, clone].map((path) => readFileSync(path, 'hex'));
  const ended: unknown[] = [];
  const end = (index: number) => syncs.threadEnded(index, (id, result) => ended.push([id, result]));
  const receive = async (count: number) => {
    await expect
      .poll(() => {
        syncs.receive((id, result) => ended.push([id, result]));
        return ended.length;
      })
      .toBe(count);
    return ended;
  };
  return { syncs, late, started, written, receive, end, ended, fd, cloneFd: openSync(clone, 'a') };
}

it('A sync that makes everything durable is answered by its thread, after the wake-up of the worker', async () => {
  const { syncs, late, written, receive, fd, cloneFd } = threads([0, 0]);
  const sync = { id: 7, answers: [1, 2] };
  syncs.start(sync);
  late.add(1, fd, request(11));
  late.add(1, cloneFd, request(12));
  late.add(2, fd, request(13));
  late.add(3, fd, request(14));
  syncs.flush();
  expect(await receive(1)).toEqual([[7, [0, 0]]]);
  await expect.poll(written).toEqual([WAKE_UP + replyTo(11) + replyTo(13), replyTo(12)]);
  // The worker's own answers to the same causes send nothing twice.
  late.answer(1, undefined);
  late.answer(2, undefined);
  late.answer(3, undefined);
  expect(written()[0]).toBe(WAKE_UP + replyTo(11) + replyTo(13) + replyTo(14));
});

it('A sync that fails for one file is answered by the worker', async () => {
  const { syncs, late, written, receive, fd } = threads([0, 5]);
  const sync = { id: 8, answers: [1] };
  syncs.start(sync);
  late.add(1, fd, request(21));
  syncs.flush();
  expect(await receive(1)).toEqual([[8, [0, 5]]]);
  late.answer(1, new Errno(5));
  expect(written()[0]).toBe(WAKE_UP + replyTo(21, 5));
});

it('A second thread is started only for a sync beside another one', async () => {
  const { syncs, started, receive } = threads([0]);
  for (const id of [1, 2]) {
    syncs.start({ id });
    syncs.flush();
    await receive(id);
  }
  expect(started).toEqual([0]);
  syncs.start({ id: 3 });
  syncs.start({ id: 4 });
  syncs.flush();
  await receive(4);
  expect(started).toEqual([0, 1]);
});

it('A sync whose thread ends before it is reported as failed, and answered by the worker; the next one has a new thread', async () => {
  const { syncs, late, started, written, end, ended, fd } = threads([0], () => undefined);
  syncs.start({ id: 1, answers: [1] });
  late.add(1, fd, request(31));
  syncs.flush();
  end(0);
  expect(ended).toEqual([[1, undefined]]);
  expect(written()[0]).toBe('');
  late.answer(1, new Errno(5));
  expect(written()[0]).toBe(replyTo(31, 5));
  syncs.start({ id: 2 });
  syncs.flush();
  expect(started).toEqual([0, 0]);
});

it('The replies of a thread that ends with the report of a sync are sent by the worker', async () => {
  const reportAndEnd = (port: MessagePort) =>
    port.on('message', ({ sync }: { sync: { id: number } }) =>
      port.postMessage({ id: sync.id, errnos: [0], replied: true }),
    );
  const { syncs, late, written, receive, end, ended, fd } = threads([0], reportAndEnd);
  syncs.start({ id: 1, answers: [1] });
  late.add(1, fd, request(41));
  syncs.flush();
  await receive(1);
  expect(written()[0]).toBe('');
  // Whether or not another sync has begun.
  syncs.start({ id: 2 });
  syncs.flush();
  end(0);
  expect(ended).toEqual([
    [1, [0]],
    [2, undefined],
  ]);
  expect(written()[0]).toBe(replyTo(41));
  end(0);
  expect(written()[0]).toBe(replyTo(41));
});
