import { describe, expect, it } from 'vitest';
import { HeldRequests } from '../../../lib/fuse/connection/held-requests.ts';
import { RequestReader } from '../../../lib/fuse/connection/request-reader.ts';
import type { FileSystem } from '../../../lib/fuse/filesystem.ts';
import { Opcode } from '../../../lib/fuse/protocol/opcodes.ts';
import { ControlNode } from '../../../lib/fuse/session/control-node.ts';
import { REQUEST_SIZE, Session } from '../../../lib/fuse/session/session.ts';

const MIB = 1 << 20;

/** A request of `length` bytes for a node; its `unique` is a name for the tests. */
function request(unique: number, nodeid: number, opcode: number = Opcode.GETATTR, length = 56): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt32LE(opcode, 4);
  bytes.writeBigUInt64LE(BigInt(unique), 8);
  bytes.writeBigUInt64LE(BigInt(nodeid), 16);
  return bytes;
}

/** A device whose queue is `queued`. Nodes belong to the flow of their tens. */
function device(queued: Buffer[], maxBytes?: number, killed: readonly number[] = []) {
  const refused: number[] = [];
  const forgotten: number[] = [];
  const fileSystem = {
    flowOf: (nodeid: number) => Math.floor(nodeid / 10),
    forget: (nodeid: number) => forgotten.push(nodeid),
  } as unknown as FileSystem;
  const events = { onInit: () => {}, onWake: () => {}, onDefect: () => {} };
  const session = new Session(fileSystem, new ControlNode('control', 0), events);
  const init = request(1, 0, Opcode.INIT, 104);
  init.writeUInt32LE(7, 40);
  init.writeUInt32LE(40, 44);
  session.handle(init.length, init);
  const read = (fd: number) => ({
    fd,
    read: (into: Buffer) => {
      const next = queued.shift();
      return next?.copy(into);
    },
  });
  // Reading takes no noticeable time, and each request as long as others: `took` ms.
  const clock = { now: 1, looks: 0, took: 1 };
  const reader = new RequestReader(read(3), read(4), () => false, false);
  const held = new HeldRequests(
    reader,
    session,
    (each) => refused.push(Number(each.request.readBigUInt64LE(8))),
    undefined,
    maxBytes,
    () => {
      clock.looks++;
      return clock.now;
    },
    (pid) => !killed.includes(pid),
  );
  /** `released`: how long work for others takes after it. */
  const served = (released = 0) => {
    const next = held.receive();
    if (next === undefined) return undefined;
    const unique = Number(next.request.readBigUInt64LE(8));
    const { fd, length } = next;
    clock.now += clock.took;
    if (released > 0) {
      held.ran();
      clock.now += released;
    }
    held.done();
    return { unique, fd, length };
  };
  return { served, forgotten, refused, session, clock };
}

describe('held requests', () => {
  it('are served in turns of workspaces, in the order of each', () => {
    const queued = [11, 12, 13, 14, 21, 15, 22].map((unique) => request(unique, unique - (unique % 10)));
    const { served } = device(queued);
    const order = Array.from({ length: 7 }, () => served()!.unique);
    expect(order.slice(0, 4)).toEqual([11, 21, 12, 22]);
    expect(order.slice(4)).toEqual([13, 14, 15]);
  });

  it('are answered on the descriptor that they were read from', () => {
    const { served } = device([request(1, 10), request(2, 20)]);
    expect(served()!.fd).toBe(4);
    expect(served()!.fd).toBe(4);
  });

  it('keep their bytes while others are read', () => {
    const large = request(1, 10, Opcode.WRITE, REQUEST_SIZE);
    large.fill('x', 80);
    const { served } = device([large, request(2, 20), request(3, 20), request(4, 20)]);
    expect(served()).toMatchObject({ unique: 1, length: REQUEST_SIZE });
    expect([served(), served(), served()].map((each) => each!.unique)).toEqual([2, 3, 4]);
  });

  it('stay in the queue of the kernel above the limit of their bytes', () => {
    const queued = Array.from({ length: 10 }, (_, index) => request(index, 10, Opcode.WRITE, MIB));
    const { served } = device(queued, 3 * MIB);
    served();
    expect(queued).toHaveLength(7);
    for (let i = 0; i < 9; i++) served();
    expect(queued).toHaveLength(0);
  });

  it('are refused at once when their process is killed, and after no other signal', () => {
    const of = (unique: number, pid: number) => {
      const bytes = request(unique, 10, Opcode.WRITE, MIB);
      bytes.writeUInt32LE(pid, 32);
      return bytes;
    };
    const interrupt = (unique: number) => {
      const bytes = request(unique + 1, 0, Opcode.INTERRUPT, 48);
      bytes.writeBigUInt64LE(BigInt(unique), 40);
      return bytes;
    };
    const queued = [of(2, 7), of(4, 7), of(6, 8), of(8, 0)];
    const { served, refused } = device(queued, 4 * MIB, [7]);
    expect(served()!.unique).toBe(2);
    queued.push(...[2, 4, 6, 8].map(interrupt), of(10, 9));
    expect([served()!.unique, refused]).toEqual([6, [4]]);
    expect([served()!.unique, served()!.unique, queued.length]).toEqual([8, 10, 0]);
  });

  it('are counted without the work for others that follows', () => {
    const queued = [11, 12, 13, 21, 22, 23].map((unique) => request(unique, unique - (unique % 10)));
    const { served } = device(queued);
    served(100);
    expect(Array.from({ length: 5 }, () => served()!.unique)).toEqual([21, 12, 22, 13, 23]);
  });

  it('are served without a read before each if they take little time', () => {
    const queued = Array.from({ length: 8 }, (_, index) => request(index, 10));
    const { served, clock } = device(queued);
    clock.took = 0.02;
    served();
    const other = request(20, 20);
    queued.push(other);
    expect([served()!.unique, served()!.unique, queued.length]).toEqual([1, 2, 1]);
    expect([served()!.unique, queued.length]).toEqual([20, 0]);
  });

  it('take no look at the clock while one program sends requests that the kernel forgets something with', () => {
    const forget = (nodeid: number) => request(1, nodeid, Opcode.FORGET, 48);
    const queued: Buffer[] = [];
    const { served, clock } = device(queued);
    for (let i = 0; i < 20; i++) {
      queued.push(forget(i), request(i, 10));
      served();
      served();
    }
    expect([queued.length, clock.looks]).toEqual([0, 0]);
  });

  it('do not delay what the kernel forgets', () => {
    const forget = request(9, 10, Opcode.FORGET, 48);
    forget.writeBigUInt64LE(1n, 40);
    const { served, forgotten } = device([request(1, 20), request(2, 20), forget]);
    expect(served()!.unique).toBe(1);
    expect(forgotten).toEqual([10]);
  });
});
