import type { Attr, FileSystem } from '../../../lib/fuse/filesystem.ts';
import { ControlNode } from '../../../lib/fuse/session/control-node.ts';
import type { ParentDirectories } from '../../../lib/fuse/session/parent-directories.ts';
import { Session, type SessionEvents } from '../../../lib/fuse/session/session.ts';

/** Attributes with a different value in every field, so that a swapped pair is detected. */
export const ATTR: Attr = {
  ino: 0x1_0203_0405,
  size: 0x2_1213_1415,
  blocks: 0x3_2223_2425,
  atime: { sec: 0x4_3233_3435, nsec: 101 },
  mtime: { sec: -2, nsec: 102 },
  ctime: { sec: 0x6_5253_5455, nsec: 103 },
  mode: 0o100641,
  nlink: 104,
  uid: 105,
  gid: 106,
  rdev: 107,
};

export interface Recorder {
  session: Session;
  /** Method names with their arguments; buffers as latin1 text. */
  calls: unknown[][];
  events: string[];
  /** The result of a method, or a function that produces it. */
  answers: Partial<Record<keyof FileSystem, (...args: never[]) => unknown>>;
  /** Passes a request to the session and returns the reply (undefined: none). */
  send(request: Buffer): Buffer | undefined;
}

/** A session over a file system that records its calls. */
export function record({
  initialised = true,
  parents,
}: {
  initialised?: boolean;
  parents?: ParentDirectories;
} = {}): Recorder {
  const calls: unknown[][] = [];
  const events: string[] = [];
  const answers: Recorder['answers'] = {};
  const fileSystem = new Proxy({} as FileSystem, {
    get: (_, name: keyof FileSystem) => {
      if (name === 'serving') return undefined;
      return (...args: never[]) => {
        const plain = args.map((arg: unknown) => {
          if (Buffer.isBuffer(arg)) return name === 'read' ? arg.length : arg.toString('latin1');
          return typeof arg === 'object' ? { ...arg } : arg;
        });
        calls.push([name, ...plain]);
        return answers[name]?.(...args);
      };
    },
  });
  const sessionEvents: SessionEvents = {
    onInit: ({ minor }) => events.push(`init ${minor}`),
    onWake: () => events.push('wake'),
    onDefect: (operation, thrown) => events.push(`defect ${operation} ${String(thrown)}`),
  };
  const session = new Session(fileSystem, new ControlNode('.secret', 42), sessionEvents, parents);
  const send = (request: Buffer) => {
    request.copy(session.request);
    const size = session.handle(request.length);
    return size === 0 ? undefined : Buffer.from(session.reply.subarray(0, size));
  };
  if (initialised) {
    send(message(26, 0, INIT_IN));
    events.length = 0;
  }
  return { session, calls, events, answers, send };
}

/** Returns a complete request: uid 42, gid 43, pid 44, unique 0x1122334455667788. */
export function message(opcode: number, nodeid: number, ...parts: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  const header = Buffer.alloc(40);
  header.writeUInt32LE(40 + body.length, 0);
  header.writeUInt32LE(opcode, 4);
  header.writeBigUInt64LE(0x1122334455667788n, 8);
  header.writeBigUInt64LE(BigInt(nodeid), 16);
  header.writeUInt32LE(42, 24);
  header.writeUInt32LE(43, 28);
  header.writeUInt32LE(44, 32);
  return Buffer.concat([header, body]);
}

/** [offset, 'u32' | 'u64' | 's64' | 'u16', value] in a struct of `size` bytes. */
export type Field = readonly [offset: number, type: 'u16' | 'u32' | 'u64' | 's64', value: number];

export function struct(size: number, ...fields: Field[]): Buffer {
  const bytes = Buffer.alloc(size);
  for (const [offset, type, value] of fields) {
    if (type === 'u16') bytes.writeUInt16LE(value, offset);
    else if (type === 'u32') bytes.writeUInt32LE(value, offset);
    else if (type === 'u64') bytes.writeBigUInt64LE(BigInt(value), offset);
    else bytes.writeBigInt64LE(BigInt(value), offset);
  }
  return bytes;
}

/** fuse_init_in of Linux 6.18. */
export const INIT_IN = struct(
  64,
  [0, 'u32', 7],
  [4, 'u32', 45],
  [8, 'u32', 131072],
  [12, 'u32', 0x73fffffb],
  [16, 'u32', 0x5fd],
);
