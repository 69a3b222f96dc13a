import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { FormatError } from '../../../../../lib/trees/format/format-error.ts';
import { slotKey } from '../../../../../lib/trees/format/keys.ts';
import { Damage } from '../../../../../lib/workspaces/delta/damage.ts';
import { RootFile } from '../../../../../lib/workspaces/tree/disk/root-file.ts';
import { decodeSlot, encodeSlot, SLOT_BYTES, type Slot } from '../../../../../lib/workspaces/tree/disk/root-slot.ts';
import { runSteps } from '../../../../../lib/workspaces/tree/disk/sync-steps.ts';
import type { TreeRoot } from '../../../../../lib/workspaces/tree/disk/tree-root.ts';
import { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import { type Random, seeded } from '../../../trees/random.ts';
import { anyTree } from '../journal/any-record.ts';

function anyRoot(random: Random): TreeRoot {
  const u32 = () => random(2 ** 32);
  const u48 = () => random(2 ** 31) * 2 ** 16;
  const store = () => (BigInt(u32()) << 32n) | BigInt(u32());
  return {
    generation: u32(),
    former: { end: u32(), crc: u32() },
    store: store(),
    segment: u32(),
    nextSegment: u32(),
    epoch: u32(),
    sharedEpoch: u32(),
    version: u48(),
    ownBytes: u48(),
    ownEntries: u48(),
    retainedBytes: u48(),
    nextSequence: u48(),
    nextNumber: u48(),
    slabMaps: slotKey({ store: store(), class: 1, slot: u32(), sequence: u48(), birth: u32(), crc: u32() }),
    mine: anyTree(random),
    base: anyTree(random),
    numbers: Array.from({ length: random(5) }, () => ({ next: u48(), end: u48() })),
    stores: Array.from({ length: random(10) === 0 ? random(5000) : random(9) }, store),
    redactionKeys: Array.from({ length: random(3) }, (_, n) => `key-${n}`),
  };
}

/** With the checksum that the bytes should have. */
function sealed(bytes: Buffer): Buffer {
  const crcAt = bytes.length - 4;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, crcAt)), crcAt);
  return bytes;
}

function decoded(bytes: Buffer): Slot | 'refused' {
  try {
    return decodeSlot(bytes);
  } catch (error) {
    if (error instanceof FormatError) return 'refused';
    throw error;
  }
}

describe('a slot of the root', () => {
  const random = seeded(5);

  it('is read as it was written', () => {
    for (let times = 0; times < 500; times++) {
      const root = anyRoot(random);
      const copy = random(2) === 1;
      expect(decodeSlot(encodeSlot(root, copy))).toEqual({ root, copy });
    }
  });

  it('of several pages takes the place of one, and one its place, also where power is lost', () => {
    const disk = new SimulatedDisk();
    const root = (stores: number, generation: number): TreeRoot => {
      return { ...anyRoot(random), generation, stores: Array.from({ length: stores }, (_, n) => BigInt(n)) };
    };
    const first = root(3, 1);
    const file = RootFile.create(disk, '/root', first);
    disk.syncFolder('/');
    runSteps(disk, file.steps());
    file.synced();
    let last = first;
    for (const [index, stores] of [4000, 3, 2000, 1000, 8, 3].entries()) {
      const next = root(stores, index + 2);
      const replacing = file.replacing(next);
      const steps = replacing.steps();
      runSteps(disk, steps.slice(0, 1));
      for (let times = 0; times < 20; times++) {
        const found = RootFile.open(disk.crashed(random), '/root')?.root;
        expect([last, next]).toContainEqual(found);
      }
      runSteps(disk, steps.slice(1));
      replacing.synced();
      expect(RootFile.open(disk.crashed(random), '/root')?.root).toEqual(next);
      last = next;
    }
  });

  it('is refused or read, and nothing else, of whatever fields with a right checksum', () => {
    for (let times = 0; times < 2000; times++) {
      const bytes = encodeSlot(anyRoot(random), false);
      for (let wrong = 1 + random(3); wrong > 0; wrong--) bytes[8 + random(500)] = random(256);
      decoded(sealed(bytes));
    }
    const bytes = encodeSlot(anyRoot(random), false);
    bytes[bytes.length - 5] = 1;
    expect(decoded(sealed(bytes))).toBe('refused');
  });

  it('of an unknown format keeps the file from being opened, by a sentence that names the format', () => {
    const disk = new SimulatedDisk();
    RootFile.create(disk, '/root', anyRoot(random)).close();
    const newer = encodeSlot(anyRoot(random), false);
    newer[4] = 9;
    const fd = disk.open('/root', 'write');
    disk.pwrite(fd, sealed(newer), SLOT_BYTES);
    disk.close(fd);
    expect(() => RootFile.open(disk, '/root')).toThrow(
      expect.objectContaining({
        code: 'FAILED_PRECONDITION',
        message: 'the files of the sandbox have format 9, and this server reads format 1 only',
      }),
    );
    expect(disk.openFiles).toBe(0);
  });

  it('with fields that no server writes is damage', () => {
    const disk = new SimulatedDisk();
    RootFile.create(disk, '/root', anyRoot(random)).close();
    const wrong = encodeSlot(anyRoot(random), false);
    wrong[wrong.length - 5] = 1;
    const fd = disk.open('/root', 'write');
    disk.pwrite(fd, sealed(wrong), 0);
    expect(() => RootFile.open(disk, '/root')).toThrow(Damage);
  });
});
