import { describe, expect, it } from 'vitest';
import { fromLatin1, fromText } from '../../../lib/byte-string.ts';
import type { EmitDirent } from '../../../lib/fuse/filesystem.ts';
import { CONTROL_NODEID } from '../../../lib/fuse/session/control-node.ts';
import { Errno } from '../../../lib/linux/errno.ts';
import { ATTR, type Field, INIT_IN, message, record, struct } from './recorder.ts';

const CALLER = { uid: 42, gid: 43, pid: 44 };
const NODEID = 0x7_6543_2107;
const ENTRY = { nodeid: NODEID, attr: ATTR };
const DAY = 86_400;

const attrFields = (at: number): Field[] => [
  [at, 'u64', 0x1_0203_0405],
  [at + 8, 'u64', 0x2_1213_1415],
  [at + 16, 'u64', 0x3_2223_2425],
  [at + 24, 'u64', 0x4_3233_3435],
  [at + 32, 's64', -2],
  [at + 40, 'u64', 0x6_5253_5455],
  [at + 48, 'u32', 101],
  [at + 52, 'u32', 102],
  [at + 56, 'u32', 103],
  [at + 60, 'u32', 0o100641],
  [at + 64, 'u32', 104],
  [at + 68, 'u32', 105],
  [at + 72, 'u32', 106],
  [at + 76, 'u32', 107],
  [at + 80, 'u32', 4096],
];
const ENTRY_OUT = struct(128, [0, 'u64', NODEID], [16, 'u64', DAY], [24, 'u64', DAY], ...attrFields(40));
const ATTR_OUT = struct(104, [0, 'u64', DAY], ...attrFields(16));
const NEGATIVE_ENTRY = struct(128, [16, 'u64', DAY], [24, 'u64', DAY]);
const OPEN_OUT = struct(16, [8, 'u32', 2]);

/** Returns a successful reply with this body. */
function ok(body: Buffer): Buffer {
  const header = struct(16, [0, 'u32', 16 + body.length]);
  header.writeBigUInt64LE(0x1122334455667788n, 8);
  return Buffer.concat([header, body]);
}

function failed(errno: number): Buffer {
  const reply = ok(Buffer.alloc(0));
  reply.writeInt32LE(-errno, 4);
  return reply;
}

const EMPTY = ok(Buffer.alloc(0));

describe('the bytes of requests and replies', () => {
  const setattr = struct(
    88,
    [0, 'u32', 0b1000_0011_1111],
    [8, 'u64', 9],
    [16, 'u64', 0x5_0000_0001],
    [24, 'u64', 8],
    [32, 's64', -3],
    [40, 'u64', 0x1_0000_0002],
    [48, 'u64', 7],
    [56, 'u32', 201],
    [60, 'u32', 202],
    [64, 'u32', 203],
    [68, 'u32', 0o100755],
    [72, 'u32', 6],
    [76, 'u32', 1001],
    [80, 'u32', 1002],
  );
  const changes = {
    mode: 0o100755,
    uid: 1001,
    gid: 1002,
    size: 0x5_0000_0001,
    atime: { sec: -3, nsec: 201 },
    mtime: { sec: 0x1_0000_0002, nsec: 202 },
    killSuidgid: true,
  };
  const now = struct(88, [0, 'u32', 0b1_1011_0000], [32, 'u64', 5], [40, 'u64', 6]);
  const write = struct(
    40,
    [0, 'u64', 9],
    [8, 'u64', 0x1_0000_0003],
    [16, 'u32', 4],
    [20, 'u32', 4],
    [24, 'u64', 8],
    [32, 'u32', 1],
  );
  const rename2 = struct(16, [0, 'u64', 78], [8, 'u32', 1]);
  const create = struct(16, [0, 'u32', 0o102], [4, 'u32', 0o100644], [8, 'u32', 0o22]);
  const statfs = { blocks: 1, bfree: 2, bavail: 3, files: 4, ffree: 5, bsize: 4096, namelen: 99 };
  const statfsOut = struct(
    80,
    [0, 'u64', 1],
    [8, 'u64', 2],
    [16, 'u64', 3],
    [24, 'u64', 4],
    [32, 'u64', 5],
    [40, 'u32', 4096],
    [44, 'u32', 255],
    [48, 'u32', 4096],
  );

  it.each([
    ['LOOKUP', message(1, 77, 'a\xff\0'), ENTRY, ['lookup', CALLER, 77, 'a\xff'], ok(ENTRY_OUT)],
    ['LOOKUP, absent', message(1, 77, 'a\0'), undefined, ['lookup', CALLER, 77, 'a'], ok(NEGATIVE_ENTRY)],
    ['FORGET', message(2, 77, struct(8, [0, 'u64', 5])), undefined, ['forget', 77, 5], undefined],
    ['GETATTR', message(3, 77, struct(16)), ATTR, ['getattr', CALLER, 77], ok(ATTR_OUT)],
    ['SETATTR', message(4, 77, setattr), ATTR, ['setattr', CALLER, 77, changes], ok(ATTR_OUT)],
    ['SETATTR, now', message(4, 77, now), ATTR, ['setattr', CALLER, 77, { atime: 'now', mtime: 'now' }], ok(ATTR_OUT)],
    ['READLINK', message(5, 77), Buffer.from('to/x'), ['readlink', CALLER, 77], ok(Buffer.from('to/x'))],
    ['SYMLINK', message(6, 77, 'n\0../t\0'), ENTRY, ['symlink', CALLER, 77, 'n', '../t'], ok(ENTRY_OUT)],
    [
      'MKNOD',
      message(8, 77, struct(16, [0, 'u32', 0o10640], [4, 'u32', 0x105], [8, 'u32', 0o22]), 'n\0'),
      ENTRY,
      ['mknod', CALLER, 77, 'n', 0o10640, 0x105],
      ok(ENTRY_OUT),
    ],
    [
      'MKDIR',
      message(9, 77, struct(8, [0, 'u32', 0o750], [4, 'u32', 0o22]), 'n\0'),
      ENTRY,
      ['mkdir', CALLER, 77, 'n', 0o750],
      ok(ENTRY_OUT),
    ],
    ['UNLINK', message(10, 77, 'n\0'), undefined, ['unlink', CALLER, 77, 'n'], EMPTY],
    ['RMDIR', message(11, 77, 'n\0'), undefined, ['rmdir', CALLER, 77, 'n'], EMPTY],
    [
      'RENAME',
      message(12, 77, struct(8, [0, 'u64', 78]), 'a\0b\0'),
      undefined,
      ['rename', CALLER, 77, 'a', 78, 'b', 0],
      EMPTY,
    ],
    ['RENAME2', message(45, 77, rename2, 'a\0b\0'), undefined, ['rename', CALLER, 77, 'a', 78, 'b', 1], EMPTY],
    ['LINK', message(13, 77, struct(8, [0, 'u64', 79]), 'n\0'), ENTRY, ['link', CALLER, 79, 77, 'n'], ok(ENTRY_OUT)],
    [
      'CREATE',
      message(35, 77, create, 'n\0'),
      ENTRY,
      ['create', CALLER, 77, 'n', 0o100644, 0o102],
      ok(Buffer.concat([ENTRY_OUT, OPEN_OUT])),
    ],
    [
      'WRITE',
      message(16, 77, write, 'data'),
      4,
      ['write', CALLER, 77, 0x1_0000_0003, 'data', true],
      ok(struct(8, [0, 'u32', 4])),
    ],
    ['STATFS', message(17, 77), statfs, ['statfs', CALLER, 77], ok(statfsOut)],
    ['FSYNC', message(20, 77, struct(16, [8, 'u32', 1])), undefined, ['fsync', CALLER, 77, true], EMPTY],
    ['FSYNCDIR', message(30, 77, struct(16)), undefined, ['fsync', CALLER, 77, false], EMPTY],
  ])('%s', (_, request, answer, call, reply) => {
    const { send, calls, answers } = record();
    answers[call[0] as 'lookup'] = () => answer;
    expect(send(request)).toEqual(reply);
    expect(calls).toEqual([call]);
  });

  it('READ writes the data directly into the reply', () => {
    const { send, calls, answers } = record();
    answers.read = (_caller: unknown, _nodeid: unknown, _offset: unknown, into: Buffer) => into.write('some');
    const read = struct(40, [0, 'u64', 9], [8, 'u64', 0x1_0000_0003], [16, 'u32', 100]);
    expect(send(message(15, 77, read))).toEqual(ok(Buffer.from('some')));
    expect(calls).toEqual([['read', CALLER, 77, 0x1_0000_0003, 100]]);
  });

  it('BATCH_FORGET forgets each node', () => {
    const { send, calls } = record();
    const items = [struct(16, [0, 'u64', 5], [8, 'u64', 6]), struct(16, [0, 'u64', NODEID], [8, 'u64', 8])];
    expect(send(message(42, 0, struct(8, [0, 'u32', 2]), ...items))).toBeUndefined();
    expect(calls).toEqual([
      ['forget', 5, 6],
      ['forget', NODEID, 8],
    ]);
  });

  it('INIT requests only the features that are wanted and offered', () => {
    const { send, events } = record({ initialised: false });
    const out = struct(
      64,
      [0, 'u32', 7],
      [4, 'u32', 45],
      [8, 'u32', 131072],
      [12, 'u32', 0x52e42021],
      [16, 'u16', 65_535],
      [18, 'u16', 65_535],
      [20, 'u32', 1 << 20],
      [24, 'u32', 1],
      [28, 'u16', 256],
    );
    expect(send(message(26, 0, INIT_IN))).toEqual(ok(out));
    expect(events).toEqual(['init 45']);
  });

  it('INIT of an older kernel has 16 bytes and is answered with its own minor version and flags', () => {
    const { send } = record({ initialised: false });
    const init = struct(16, [0, 'u32', 7], [4, 'u32', 32], [8, 'u32', 65536], [12, 'u32', 0x20]);
    const reply = send(message(26, 0, init)) as Buffer;
    expect([reply.length, reply.readUInt32LE(20), reply.readUInt32LE(28)]).toEqual([80, 32, 0x20]);
  });
});

describe('listings', () => {
  const listing = (emit: EmitDirent, plus: boolean) =>
    emit(fromText('.'), 1, 77, 4, undefined) &&
    emit(fromLatin1('file\xff5678'), 0x2_0000_0002, 0x1_0203_0405, 8, plus ? ENTRY : undefined) &&
    emit(fromText('last'), 3, 7, 10, plus ? { nodeid: 5, attr: ATTR } : undefined);
  const read = (size: number) => struct(40, [8, 'u64', 11], [16, 'u32', size]);
  const dirent = (name: string, cookie: number, ino: number, type: number) => {
    const padded = Math.ceil((24 + name.length) / 8) * 8;
    const bytes = struct(padded, [0, 'u64', ino], [8, 'u64', cookie], [16, 'u32', name.length], [20, 'u32', type]);
    bytes.write(name, 24, 'latin1');
    return bytes;
  };

  it('READDIR packs complete records', () => {
    const { send, calls, answers } = record();
    answers.readdir = (...[, , , plus, emit]: [0, 0, 0, boolean, EmitDirent]) => listing(emit, plus);
    const records = [dirent('.', 1, 77, 4), dirent('file\xff5678', 0x2_0000_0002, 0x1_0203_0405, 8)];
    expect(send(message(28, 77, read(32 + 40 + 31)))).toEqual(ok(Buffer.concat(records)));
    expect(calls[0]?.slice(0, 5)).toEqual(['readdir', CALLER, 77, 11, false]);
  });

  it('READDIRPLUS writes the entry before the record', () => {
    const { send, answers } = record();
    answers.readdir = (...[, , , plus, emit]: [0, 0, 0, boolean, EmitDirent]) => listing(emit, plus);
    const second = dirent('file\xff5678', 0x2_0000_0002, 0x1_0203_0405, 8);
    const records = [struct(128), dirent('.', 1, 77, 4), ENTRY_OUT, second];
    expect(send(message(44, 77, read(128 + 32 + 128 + 40 + 8)))).toEqual(ok(Buffer.concat(records)));
  });

  it('return the entries before an error, and count their lookups', () => {
    const { send, answers } = record();
    answers.readdir = (...[, , , , emit]: [0, 0, 0, 0, EmitDirent]) => {
      emit(fromText('a'), 1, 1, 8, ENTRY);
      throw new Errno(5);
    };
    expect(send(message(44, 77, read(4096)))).toEqual(ok(Buffer.concat([ENTRY_OUT, dirent('a', 1, 1, 8)])));
  });
});

describe('error replies', () => {
  it.each([
    ['OPEN', 14, 38],
    ['OPENDIR', 27, 38],
    ['FLUSH', 25, 38],
    ['SETXATTR', 21, 38],
    ['GETXATTR', 22, 38],
    ['LISTXATTR', 23, 38],
    ['REMOVEXATTR', 24, 38],
    ['ACCESS', 34, 38],
    ['BMAP', 37, 38],
    ['IOCTL', 39, 25],
    ['POLL', 40, 38],
    ['FALLOCATE', 43, 38],
    ['LSEEK', 46, 38],
    ['COPY_FILE_RANGE', 47, 38],
    ['TMPFILE', 51, 38],
    ['STATX', 52, 38],
    ['COPY_FILE_RANGE_64', 53, 38],
    ['an unknown opcode', 63, 38],
    ['an opcode beyond the table', 4096, 38],
    ['the largest opcode', 0xffffffff, 38],
  ])('%s', (_, opcode, errno) => {
    const { send, calls } = record();
    expect(send(message(opcode, 77, struct(64)))).toEqual(failed(errno));
    expect(calls).toEqual([]);
  });

  it('a thrown Errno is the answer', () => {
    const { send, answers, events } = record();
    answers.getattr = () => {
      throw new Errno(13);
    };
    expect(send(message(3, 77, struct(16)))).toEqual(failed(13));
    expect(events).toEqual([]);
  });

  it('any other exception is EIO, and is reported once', () => {
    const { send, answers, events } = record();
    answers.getattr = () => {
      throw new TypeError('defect');
    };
    for (let i = 0; i < 3; i++) expect(send(message(3, 77, struct(16)))).toEqual(failed(5));
    expect(events).toEqual(['defect 3 TypeError: defect']);
  });

  it('an exception in a request without reply is not answered', () => {
    const { send, answers, events } = record();
    answers.forget = () => {
      throw new Error('defect');
    };
    expect(send(message(2, 77, struct(8)))).toBeUndefined();
    expect(events).toHaveLength(1);
  });

  it('names of more than 255 bytes are ENAMETOOLONG', () => {
    const { send, calls } = record();
    expect(send(message(1, 77, `${'x'.repeat(256)}\0`))).toEqual(failed(36));
    expect(calls).toEqual([]);
    send(message(1, 77, `${'x'.repeat(255)}\0`));
    expect(calls).toHaveLength(1);
  });

  it.each([[''], ['.'], ['..'], ['a/b']])('the name %j never reaches the file system', (name) => {
    const { send, calls } = record();
    expect(send(message(1, 77, `${name}\0`))).toEqual(failed(5));
    expect(calls).toEqual([]);
  });

  it('sizes and offsets from 2^53 are EFBIG', () => {
    const { send } = record();
    const huge = struct(8, [0, 'u64', 2 ** 53]);
    expect(send(message(15, 77, struct(8), huge, struct(24)))).toEqual(failed(27));
    expect(send(message(16, 77, struct(8), huge, struct(24)))).toEqual(failed(27));
  });

  it('a request before INIT is EIO, and so is a second INIT', () => {
    const { send } = record({ initialised: false });
    expect(send(message(3, 77, struct(16)))).toEqual(failed(5));
    send(message(26, 0, INIT_IN));
    expect(send(message(26, 0, INIT_IN))).toEqual(failed(5));
  });

  it('a kernel older than protocol 7.31 is refused', () => {
    const { send } = record({ initialised: false });
    expect(send(message(26, 0, struct(16, [0, 'u32', 7], [4, 'u32', 30])))).toEqual(failed(71));
  });
});

describe('a reply that the kernel did not accept', () => {
  it('releases the lookup count of an entry', () => {
    const { session, send, calls, answers } = record();
    answers.lookup = () => ENTRY;
    send(message(1, 77, 'a\0'));
    session.revertLookups();
    expect(calls[1]).toEqual(['forget', NODEID, 1]);
  });

  it('does not fail the session if the release throws', () => {
    const { session, send, events, answers } = record();
    answers.lookup = () => ENTRY;
    answers.forget = () => {
      throw new Error('defect');
    };
    send(message(1, 77, 'a\0'));
    session.revertLookups();
    expect(events).toEqual(['defect 2 Error: defect']);
  });

  it('releases nothing for a missing name or an error', () => {
    const { session, send, calls, answers } = record();
    send(message(1, 77, 'a\0'));
    session.revertLookups();
    answers.mkdir = () => {
      throw new Errno(17);
    };
    send(message(9, 77, struct(8), 'a\0'));
    session.revertLookups();
    expect(calls.filter(([name]) => name === 'forget')).toEqual([]);
  });

  it('releases each entry of a listing except "." and ".."', () => {
    const { session, send, calls, answers } = record();
    answers.readdir = (...[, , , , emit]: [0, 0, 0, 0, EmitDirent]) => {
      emit(fromText('.'), 1, 1, 4, undefined);
      emit(fromText('a-long-name'), 2, 1, 8, ENTRY);
      emit(fromText('b'), 3, 1, 8, { nodeid: 6, attr: ATTR });
    };
    send(message(44, 77, struct(40, [16, 'u32', 4096])));
    session.revertLookups();
    expect(calls.slice(1)).toEqual([
      ['forget', NODEID, 1],
      ['forget', 6, 1],
    ]);
  });
});

describe('the control node', () => {
  it('is found in the root by the server’s uid only', () => {
    const { send, calls } = record();
    const reply = send(message(1, 1, '.secret\0')) as Buffer;
    expect(reply.readBigUInt64LE(16)).toBe(BigInt(CONTROL_NODEID));
    const other = message(1, 1, '.secret\0');
    other.writeUInt32LE(1000, 24);
    send(other);
    send(message(1, 2, '.secret\0'));
    expect(calls.map(([, , parent]) => parent)).toEqual([1, 2]);
  });

  it('is never passed to the file system', () => {
    const { send, calls } = record();
    for (let opcode = 2; opcode < 64; opcode++) if (opcode !== 42) send(message(opcode, CONTROL_NODEID, struct(128)));
    expect(calls).toEqual([]);
  });

  it('wakes the session when the kernel replies to a notification about it', () => {
    const { send, events } = record();
    expect(send(message(41, CONTROL_NODEID, struct(40)))).toBeUndefined();
    expect(events).toEqual(['wake']);
  });
});
