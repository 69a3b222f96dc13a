import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { beforeEach, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { NotificationQueue } from '../../../lib/fuse/connection/notification-queue.ts';
import type { NotificationBatch } from '../../../lib/fuse/connection/notifier.ts';
import { ParentDirectories } from '../../../lib/fuse/session/parent-directories.ts';
import { ATTR, message, type Recorder, record } from './recorder.ts';

const [LOOKUP, GETATTR, MKDIR, ROOT, WORKSPACE] = [1, 3, 9, 1, 77];
const [ENOENT, EACCES] = [2, 13];

let parents: ParentDirectories;
let recorder: Recorder;

beforeEach(() => {
  parents = new ParentDirectories();
  recorder = record({ parents });
  recorder.answers.lookup = (_caller: unknown, _parent: unknown, name: string) =>
    name === 'sb_1' ? { nodeid: WORKSPACE, attr: ATTR } : undefined;
});

function lookup(parent: number, name: string) {
  const reply = recorder.send(message(LOOKUP, parent, `${name}\0`)) as Buffer;
  const error = -reply.readInt32LE(4);
  if (error !== 0) return { error };
  return { nodeid: Number(reply.readBigUInt64LE(16)), seconds: Number(reply.readBigUInt64LE(32)) };
}

it('a workspace is shown in a directory of its own, whose name the kernel does not cache', () => {
  const { nodeid } = lookup(ROOT, 'sb_1');
  expect(lookup(ROOT, 'sb_1')).toEqual({ nodeid, seconds: 0 });
  // Lookups of parent directories are not counted.
  expect(recorder.calls.filter(([name]) => name === 'forget')).toEqual([
    ['forget', WORKSPACE, 1],
    ['forget', WORKSPACE, 1],
  ]);
  expect(lookup(nodeid!, 'workspace')).toEqual({ nodeid: WORKSPACE, seconds: 86_400 });
  const attr = recorder.send(message(GETATTR, nodeid!, Buffer.alloc(16)))!;
  expect(attr.readUInt32LE(16 + 16 + 60)).toBe(0o40711);
});

it('the kernel does not cache missing names of the root, and nothing can be created there', () => {
  expect(lookup(ROOT, 'sb_2')).toEqual({ error: ENOENT });
  const { nodeid } = lookup(ROOT, 'sb_1');
  expect(lookup(nodeid!, 'other')).toEqual({ error: ENOENT });
  expect(recorder.send(message(MKDIR, nodeid!, Buffer.alloc(8), 'd\0'))?.readInt32LE(4)).toBe(-EACCES);
});

it('the kernel invalidates a workspace in its own directory, never in the shared root', () => {
  const { port1, port2 } = new MessageChannel();
  const queue = new NotificationQueue(port1, -1, parents);
  queue.invalEntry(ROOT, fromText('sb_1'));
  queue.flush();
  expect(receiveMessageOnPort(port2)).toBeUndefined();
  const { nodeid } = lookup(ROOT, 'sb_1');
  queue.invalEntry(ROOT, fromText('sb_1'));
  queue.flush();
  const { bytes } = (receiveMessageOnPort(port2) as { message: NotificationBatch }).message;
  const sent = Buffer.from(bytes);
  expect(Number(sent.readBigUInt64LE(16))).toBe(nodeid);
  expect(sent.toString('latin1', 32, 41)).toBe('workspace');
  port1.close();
  // After another attach it has another one.
  expect(lookup(ROOT, 'sb_1').nodeid).not.toBe(nodeid);
});
