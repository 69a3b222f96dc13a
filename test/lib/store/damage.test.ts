import { describe, expect, it } from 'vitest';
import { DamagedObject } from '../../../lib/store/damaged-object.ts';
import type { ObjectStore } from '../../../lib/store/object-store.ts';
import type { Packed } from '../../../lib/store/packs/record.ts';
import { encodeVersion } from '../../../lib/store/versions/encode-version.ts';
import { SimulatedDisk } from '../disk/simulated-disk.ts';
import type { SimulatedFile } from '../disk/simulated-file.ts';
import { directory, FOLDER, largeBytes, newStore, packFiles, reopened, version } from './stores.ts';

const RECORD_HEADER = 48;
const OBJECTS = [Buffer.from('one'), directory('a', 'b').bytes, encodeVersion(version(1)), Buffer.from('two')];

interface Written {
  readonly disk: SimulatedDisk;
  readonly path: string;
  /** In the order of the pack, with their bytes. */
  readonly records: readonly (Packed & { readonly bytes: Buffer })[];
}

function written(sealed: boolean): Written {
  const disk = new SimulatedDisk();
  const store = newStore(disk, { objects: OBJECTS.length, bytes: 1e9 });
  const put = (): void => {
    const writing = store.begin();
    writing.putContents(OBJECTS[0]!);
    writing.put(directory('a', 'b'));
    writing.putVersion(version(1));
    writing.putContents(OBJECTS[3]!);
    writing.sync();
  };
  put();
  if (sealed) {
    // The next one would begin another pack.
    store.begin().putContents(Buffer.from('three'));
    expect(store.packs()[0]).toMatchObject({ sealed, objects: OBJECTS.length });
  }
  const { name } = store.packs()[0]!;
  const path = `${FOLDER}/packs/${name}.${sealed ? 'pack' : 'open'}`;
  const found = [...store.pack(name)!.records()].sort((a, b) => a.offset - b.offset);
  store.close();
  return { disk, path, records: found.map((record, index) => ({ ...record, bytes: OBJECTS[index]! })) };
}

/** What is read of each object: it is right, or the error says which object it is. */
function readable(store: ObjectStore, records: Written['records']): boolean[] {
  return records.map(({ key, bytes }) => {
    try {
      if (store.bytes(key, bytes.length).equals(bytes)) return true;
    } catch (error) {
      if (error instanceof DamagedObject && error.key === key) return false;
      throw error;
    }
    throw new Error('other bytes were read');
  });
}

function flip(file: SimulatedFile, bit: number): void {
  file.contents[bit >> 3]! ^= 1 << (bit & 7);
}

function cut(disk: SimulatedDisk, path: string, size: number): void {
  const fd = disk.open(path, 'write');
  disk.truncate(fd, size);
  disk.close(fd);
}

const isIn = (at: number, { offset, length }: Packed): boolean => at >= offset - RECORD_HEADER && at < offset + length;

describe('an open pack', () => {
  const { disk, path, records } = written(false);
  const { size } = disk.file(path);

  it('has what is before the byte at which it was cut off, and goes on', () => {
    for (let length = 0; length <= size; length++) {
      const other = disk.copied();
      cut(other, path, length);
      const store = reopened(other);
      expect(readable(store, records)).toEqual(records.map((record) => record.offset + record.length <= length));
      const writing = store.begin();
      for (const { bytes } of records) writing.putContents(bytes);
      writing.sync();
      store.close();
      expect(readable(reopened(other), records)).toEqual(records.map(() => true));
    }
  });

  it('loses no more than one object to a flipped bit', () => {
    for (let bit = 0; bit < size * 8; bit++) {
      const other = disk.copied();
      flip(other.file(path), bit);
      expect(readable(reopened(other), records)).toEqual(records.map((record) => !isIn(bit >> 3, record)));
    }
  });

  it('is cut after its last whole record, whatever is behind it', () => {
    for (const tail of [
      Buffer.alloc(5000),
      Buffer.from('PREC'.repeat(100)),
      disk.file(path).contents.subarray(32, 80),
    ]) {
      const other = disk.copied();
      const fd = other.open(path, 'write');
      other.pwrite(fd, tail, size);
      expect(readable(reopened(other), records)).toEqual(records.map(() => true));
      expect(other.size(fd)).toBe(size);
    }
  });

  it('is not led astray by contents that look like its records', () => {
    const one = disk.file(path).contents.subarray(32, 32 + RECORD_HEADER + OBJECTS[0]!.length);
    const forged = [
      Buffer.concat([one, one]),
      Buffer.concat([one.subarray(0, 20), one]),
      Buffer.from(one.subarray(0, 50)),
    ];
    const fresh = new SimulatedDisk();
    const store = newStore(fresh);
    const writing = store.begin();
    for (const bytes of [...forged, OBJECTS[3]!]) writing.putContents(bytes);
    writing.sync();
    const { name } = store.packs()[0]!;
    const all = [...store.pack(name)!.records()].map((record, n) => ({
      ...record,
      bytes: [...forged, OBJECTS[3]!][n]!,
    }));
    for (let bit = 32 * 8; bit < all[3]!.offset * 8 - RECORD_HEADER * 8; bit++) {
      const other = fresh.copied();
      flip(other.file(`${FOLDER}/packs/${name}.open`), bit);
      expect(readable(reopened(other), all)).toEqual(all.map((record) => !isIn(bit >> 3, record)));
    }
  });

  it('is gone if it has no object', () => {
    const other = disk.copied();
    cut(other, path, 40);
    reopened(other);
    expect(packFiles(other)).toEqual([]);
  });
});

describe('a sealed pack', () => {
  const { disk, path, records } = written(true);
  const { size } = disk.file(path);

  it('loses no more than one object to a flipped bit, and is not changed', () => {
    const other = disk.copied();
    const file = other.file(path);
    const fanOut = records.at(-1)!.offset + records.at(-1)!.length;
    for (let bit = 0; bit < size * 8; bit++) {
      // Most of the fan-out says that there is nothing.
      if (bit > fanOut * 8 && bit < (fanOut + 1000) * 8 && bit % 61 > 0) continue;
      flip(file, bit);
      const found = readable(reopened(other), records);
      if (found.some((is, index) => is === isIn(bit >> 3, records[index]!))) throw new Error(`bit ${bit}: ${found}`);
      flip(file, bit);
    }
    expect(file.contents.equals(disk.file(path).contents)).toBe(true);
    expect(file.size).toBe(size);
  });

  it('is not changed where it was cut off: what is before that is read', () => {
    for (let length = 0; length <= size; length++) {
      const other = disk.copied();
      cut(other, path, length);
      const found = readable(reopened(other), records);
      expect(found).toEqual(records.map((record) => record.offset + record.length <= length));
      expect(other.file(path).size).toBe(length);
    }
  });

  it('names the object, the pack and the place of what is damaged', () => {
    const other = disk.copied();
    const { key, offset, bytes } = records[1]!;
    flip(other.file(path), (offset + 9) * 8);
    const name = path.slice(-37, -5);
    const digest = Buffer.from(key, 'latin1').toString('hex', 1);
    const store = reopened(other);
    const message = `the object ${digest} is damaged: pack ${name} at byte ${offset}`;
    expect(() => store.load(key)).toThrow(message);
    expect(() => store.bytes(key, bytes.length)).toThrow(message);
  });

  it('that is gone costs its own objects only', () => {
    const other = disk.copied();
    const store = reopened(other);
    const writing = store.begin();
    const key = writing.putContents(Buffer.from('else'));
    writing.sync();
    store.close();
    other.unlink(path);
    const again = reopened(other);
    expect(readable(again, records)).toEqual(records.map(() => false));
    expect(again.bytes(key, 4).toString()).toBe('else');
  });
});

describe('a damaged object that is put again', () => {
  it.each([true, false])('is whole then, and after a start (in a sealed pack: %s)', (sealed) => {
    const { disk, path, records } = written(sealed);
    const store = reopened(disk);
    for (const { offset } of records) flip(disk.file(path), (offset + 1) * 8);
    expect(readable(store, records)).toEqual(records.map(() => false));
    const writing = store.begin();
    writing.putContents(OBJECTS[0]!);
    writing.put(directory('a', 'b'));
    writing.putVersion(version(1));
    writing.putContents(OBJECTS[3]!);
    writing.sync();
    expect(readable(store, records)).toEqual(records.map(() => true));
    expect(readable(reopened(disk.crashed(() => 0)), records)).toEqual(records.map(() => true));
  });

  it('is whole if it is a file of large contents', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const put = () => {
      const writing = store.begin();
      const key = writing.putContents(largeBytes(1));
      writing.sync();
      return key;
    };
    const key = put();
    const name = Buffer.from(key, 'latin1').toString('hex', 1);
    const path = `${FOLDER}/blobs/${name.slice(0, 2)}/${name}`;
    flip(disk.file(path), 5);
    put();
    expect(store.bytes(key, largeBytes(1).length).equals(largeBytes(1))).toBe(true);
    const after = reopened(disk.crashed(() => 0));
    expect(after.bytes(key, largeBytes(1).length).equals(largeBytes(1))).toBe(true);
  });
});

describe('contents of a file', () => {
  it('that are damaged, cut off or gone are an error of their own', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const writing = store.begin();
    const [key, other] = [writing.putContents(largeBytes(1)), writing.putContents(largeBytes(2))];
    const name = Buffer.from(key, 'latin1').toString('hex', 1);
    const path = `${FOLDER}/blobs/${name.slice(0, 2)}/${name}`;
    const expectDamaged = (message: string): void => {
      expect(() => store.bytes(key, largeBytes(1).length)).toThrow(message);
      expect(store.bytes(other, largeBytes(2).length).equals(largeBytes(2))).toBe(true);
    };
    flip(disk.file(path), 77_777);
    expectDamaged(`the object ${name} is damaged: ${path} at byte 0`);
    cut(disk, path, 5);
    expectDamaged(`the object ${name} is damaged: ${path} at byte 0`);
    disk.unlink(path);
    expectDamaged(`the object ${name} is missing`);
  });
});
