import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { ControlledFileSystem, WorkerMessage } from '../../../lib/fuse/connection/control.ts';
import { ControlClient } from '../../../lib/fuse/connection/control-client.ts';
import { ControlOperations } from '../../../lib/fuse/connection/control-operations.ts';
import { NotificationQueue } from '../../../lib/fuse/connection/notification-queue.ts';
import {
  type NotificationBatch,
  serveNotifications,
  type WrittenBatch,
} from '../../../lib/fuse/connection/notifier.ts';
import { complete, type Steps } from '../../../lib/fuse/connection/steps.ts';
import { ParentDirectories } from '../../../lib/fuse/session/parent-directories.ts';

const DIRECTORY = 7;
const MANY = 5000;

function channel(): MessageChannel {
  const both = new MessageChannel();
  onTestFinished(() => both.port1.close());
  return both;
}

/** A queue, and what it has posted. */
function queueWithPosts(): { queue: NotificationQueue; posted: () => NotificationBatch[] } {
  const { port1, port2 } = channel();
  const posted = () => {
    const all: NotificationBatch[] = [];
    for (let next = receiveMessageOnPort(port2); next; next = receiveMessageOnPort(port2)) all.push(next.message);
    return all;
  };
  return { queue: new NotificationQueue(port1, -1, new ParentDirectories()), posted };
}

function* telling(queue: NotificationQueue, count: number): Steps<void> {
  for (let number = 0; number < count; number++) {
    queue.invalEntry(DIRECTORY, fromText(`name-${number}`));
    yield;
  }
}

it('only answers about the same workspace wait for the many invalidations of an operation', () => {
  const { queue, posted } = queueWithPosts();
  complete(queue.tellingLate('sb_1', telling(queue, MANY)));
  queue.invalInode(DIRECTORY);
  queue.flush();
  const batches = posted();
  expect(batches.map(({ batch, late }) => ({ batch, late }))).toEqual([
    { batch: 1, late: false },
    { batch: 1, late: true },
  ]);
  expect(batches[0]!.bytes.length).toBeLessThan(batches[1]!.bytes.length / 10);
  expect(queue.needed('sb_1')).toEqual({ batch: 1, late: 1 });
  for (const other of ['sb_2', undefined]) expect(queue.needed(other)).toEqual({ batch: 1, late: 0 });
});

it('a short operation has no late invalidations', () => {
  const { queue, posted } = queueWithPosts();
  complete(queue.tellingLate('sb_1', telling(queue, 10)));
  queue.flush();
  expect(posted().map(({ late }) => late)).toEqual([false]);
  expect(queue.needed('sb_1')).toEqual({ batch: 1, late: 0 });
});

it('the last late invalidations of each of very many workspaces are waited for', () => {
  const { queue } = queueWithPosts();
  const ids = Array.from({ length: 200 }, (_, number) => `sb_${number}`);
  for (const id of ids) {
    complete(queue.tellingLate(id, telling(queue, 200)));
    queue.flush();
  }
  for (const [index, id] of ids.entries()) expect(queue.needed(id).late).toBeGreaterThan(index);
  expect(queue.needed('sb_0').late).toBeLessThan(ids.length);
});

it('the notifier thread writes other invalidations before the rest of the late ones, and loses none', async () => {
  const { stackTraceLimit } = Error;
  const home = mkdtempSync(join(tmpdir(), 'notifier-'));
  const device = openSync(join(home, 'device'), 'w');
  onTestFinished(() => {
    Error.stackTraceLimit = stackTraceLimit;
    closeSync(device);
    rmSync(home, { recursive: true });
  });
  const [batches, written] = [channel(), channel()];
  const queue = new NotificationQueue(batches.port1, -1, new ParentDirectories());
  const order: WrittenBatch[] = [];
  written.port2.on('message', (message: WrittenBatch) => order.push(message));
  serveNotifications({ role: 'fuse-notifier', fd: device, batches: batches.port2, written: written.port1 });
  complete(queue.tellingLate('sb_1', telling(queue, MANY)));
  queue.flush();
  queue.invalEntry(DIRECTORY, fromText('prompt'));
  queue.flush();
  await expect.poll(() => order.length).toBe(3);
  expect(order).toEqual([
    { batch: 1, late: false },
    { batch: 2, late: false },
    { batch: 1, late: true },
  ]);
  const bytes = readFileSync(join(home, 'device'), 'latin1');
  for (const name of ['prompt', 'name-0', `name-${MANY - 1}`]) expect(bytes).toContain(`${name}\0`);
});

it('an answer that waits for late invalidations holds up no other', async () => {
  const device = openSync('/dev/null', 'w');
  const { port1 } = channel();
  const client = new ControlClient(device, port1);
  onTestFinished(() => {
    client.release();
    closeSync(device);
  });
  const settled: string[] = [];
  const called = ['rollback', 'stat'].map((name) => client.call(name).then(() => settled.push(name)));
  client.onAnswer({ kind: 'answer', id: 1, batch: 1, late: 2 });
  client.onAnswer({ kind: 'answer', id: 2, batch: 1, late: 0 });
  client.onBatchWritten({ batch: 1, late: true });
  client.onBatchWritten({ batch: 1, late: false });
  await called[1];
  expect(settled).toEqual(['stat']);
  client.onBatchWritten({ batch: 2, late: true });
  await called[0];
  expect(settled).toEqual(['stat', 'rollback']);
});

it('an operation that answers at once waits for no invalidation, not even its own', () => {
  const { queue } = queueWithPosts();
  const { port1, port2 } = channel();
  const operations = new ControlOperations(port1, -1, queue);
  const fileSystem: Partial<ControlledFileSystem> = {
    begin: () => undefined,
    control: () => queue.invalEntry(DIRECTORY, fromText('name')),
    operationEnded: () => undefined,
    answersAtOnce: (operation) => operation === 'pause',
  };
  operations.connect(fileSystem as ControlledFileSystem, () => undefined);
  const answerTo = (operation: string): WorkerMessage => {
    port2.postMessage({ id: 1, operation, args: [] });
    operations.wake(1);
    return receiveMessageOnPort(port2)!.message;
  };
  expect(answerTo('setRules')).toMatchObject({ kind: 'answer', batch: 1, late: 0 });
  expect(answerTo('pause')).toMatchObject({ kind: 'answer', batch: 0, late: 0 });
});
