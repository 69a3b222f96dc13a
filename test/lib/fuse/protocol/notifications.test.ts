import { describe, expect, it } from 'vitest';
import { fromLatin1, fromText } from '../../../../lib/byte-string.ts';
import {
  encodeInvalAttributes,
  encodeInvalEntry,
  encodeInvalInode,
  encodeRetrieveNothing,
} from '../../../../lib/fuse/protocol/notifications.ts';
import { struct } from '../recorder.ts';

const NODEID = 0x7_6543_2107;

describe('the bytes of a notification', () => {
  it('INVAL_INODE invalidates all pages and the attributes', () => {
    const into = Buffer.alloc(64, 0xff);
    const size = encodeInvalInode(into, 8, NODEID);
    expect(into.subarray(8, 8 + size)).toEqual(struct(40, [0, 'u32', 40], [4, 'u32', 2], [16, 'u64', NODEID]));
  });

  it('INVAL_INODE with a negative offset invalidates the attributes only', () => {
    const into = Buffer.alloc(40, 0xff);
    encodeInvalAttributes(into, 0, NODEID);
    expect(into).toEqual(
      struct(
        40,
        [0, 'u32', 40],
        [4, 'u32', 2],
        [16, 'u64', NODEID],
        [24, 'u32', 0xffff_ffff],
        [28, 'u32', 0xffff_ffff],
      ),
    );
  });

  it('INVAL_ENTRY ends with the NUL after its name', () => {
    const into = Buffer.alloc(64, 0xff);
    const size = encodeInvalEntry(into, 8, NODEID, fromLatin1('a\xfe'), false);
    const head = struct(32, [0, 'u32', 35], [4, 'u32', 3], [16, 'u64', NODEID], [24, 'u32', 2]);
    expect(into.subarray(8, 8 + size)).toEqual(Buffer.concat([head, Buffer.from([0x61, 0xfe, 0])]));
  });

  it('INVAL_ENTRY can expire a name without dropping it', () => {
    const into = Buffer.alloc(64);
    encodeInvalEntry(into, 0, NODEID, fromText('a'), true);
    expect(into.readUInt32LE(28)).toBe(1);
  });

  it('RETRIEVE requests no bytes', () => {
    expect(encodeRetrieveNothing(NODEID)).toEqual(struct(48, [0, 'u32', 48], [4, 'u32', 5], [24, 'u64', NODEID]));
  });
});
