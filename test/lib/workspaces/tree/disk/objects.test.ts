import { beforeEach, describe, expect, it } from 'vitest';
import { OpenFiles } from '../../../../../lib/store/open-files.ts';
import { AbsentObject } from '../../../../../lib/trees/directory/source.ts';
import { encodeObject } from '../../../../../lib/trees/format/encode-object.ts';
import { type Key, placeKey, placeOf } from '../../../../../lib/trees/format/keys.ts';
import { NewNames } from '../../../../../lib/workspaces/tree/disk/new-names.ts';
import { ObjectCache } from '../../../../../lib/workspaces/tree/disk/object-cache.ts';
import { PlacedObjects } from '../../../../../lib/workspaces/tree/disk/placed-objects.ts';
import { SegmentReader } from '../../../../../lib/workspaces/tree/disk/segment-reader.ts';
import { SegmentWriter } from '../../../../../lib/workspaces/tree/disk/segment-writer.ts';
import { SegmentNumbers } from '../../../../../lib/workspaces/tree/disk/segments.ts';
import { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import { SEED } from '../../../trees/memory.ts';
import { fileEntry } from '../../../trees/random.ts';

const STORE = 7n;
const MIB = 1024 * 1024;

let disk: SimulatedDisk;
let cache: ObjectCache;
let files: OpenFiles;
let reader: SegmentReader;
let objects: PlacedObjects;
let numbers: SegmentNumbers;
beforeEach(() => {
  disk = new SimulatedDisk();
  cache = new ObjectCache(0);
  numbers = new SegmentNumbers(1);
  files = new OpenFiles(disk, 4);
  reader = new SegmentReader(disk, files, '/');
  objects = new PlacedObjects(cache, (store) => (store === STORE ? reader : undefined));
});

function writer(segment = 0, from = numbers): SegmentWriter {
  const parts = { disk, folder: '/', store: STORE, names: new NewNames(), cache, seed: SEED };
  return new SegmentWriter(parts, segment, from);
}

const directory = (name: string) => encodeObject(0, [fileEntry(name, 'contents')]);

describe('objects in segments', () => {
  it('are read by their place', () => {
    const put = writer().put(directory('a'));
    expect(objects.load(put).nameAt(0)).toBe('a');
  });

  it('go behind what was there, in the segment of the writer', () => {
    const first = writer();
    const a = first.put(directory('a'));
    const b = writer(first.last.segment).put(directory('b'));
    expect(placeOf(b)!.offset).toBe(placeOf(a)!.length);
    expect([a, b].map((key) => objects.load(key).nameAt(0))).toEqual(['a', 'b']);
  });

  it('begin another segment rather than one longer than 64 MiB', () => {
    const sink = writer();
    const places = [63, 1, 1].map((mib) => placeOf(sink.putBytes(Buffer.alloc(mib * MIB)))!);
    expect(places.map(({ segment, offset }) => [segment, offset / MIB])).toEqual([
      [1, 0],
      [1, 63],
      [2, 0],
    ]);
  });

  it('of another writer are in segments of its own', () => {
    const sink = writer();
    const mine = sink.put(directory('a'));
    const theirs = writer(0, numbers.lease(1)).put(directory('b'));
    const next = writer().put(directory('d'));
    expect([mine, theirs, sink.put(directory('c')), next].map((key) => placeOf(key)!.segment)).toEqual([1, 2, 1, 3]);
  });

  it('pass over the segments of a server that was killed', () => {
    const first = writer().put(directory('a'));
    const again = writer(0, new SegmentNumbers(1)).put(directory('b'));
    expect([first, again].map((key) => placeOf(key)!.segment)).toEqual([1, 2]);
  });

  it('that are not there, or not as they were written, are missing', () => {
    const place = placeOf(writer().put(directory('a')))!;
    const wrong = [
      { store: 8n },
      { segment: 9 },
      { offset: 1 },
      { length: 4e9 },
      { length: place.length - 1 },
      { crc: place.crc + 1 },
    ];
    for (const part of wrong) expect(() => objects.load(placeKey({ ...place, ...part }))).toThrow(AbsentObject);
    const bytes = writer(1).putBytes(Buffer.from('no directory'));
    expect(() => objects.load(bytes)).toThrow(AbsentObject);
    expect(objects.bytes(bytes).toString()).toBe('no directory');
  });
});

describe('the descriptors of segments', () => {
  const written = (segments: number): Key[] =>
    Array.from({ length: segments }, () => {
      const sink = writer();
      const key = sink.put(directory('a'));
      sink.close();
      return key;
    });

  it('are no more than the thread may have, of many segments and stores', () => {
    const other = new SegmentReader(disk, files, '/');
    for (const key of written(10)) for (const each of [reader, other]) expect(each.read(placeOf(key)!)).toBeDefined();
    expect(disk.openFiles).toBe(4);
  });

  it('are closed with their reader, or when their segment goes', () => {
    const [first, ...others] = written(3).map((key) => placeOf(key)!);
    for (const place of [first!, ...others]) reader.read(place);
    reader.forget(first!.segment);
    expect(disk.openFiles).toBe(2);
    reader.close();
    expect(disk.openFiles).toBe(0);
    expect(reader.read(first!)).toBeDefined();
  });
});

describe('the cache of objects', () => {
  const keys = Array.from({ length: 100 }, (_, offset) => {
    return placeKey({ store: STORE, segment: 1, offset, length: 1, crc: 0 });
  });
  const object = directory('a');
  const isThere = (key: Key) => cache.get(key) !== undefined;

  it('keeps what was used last, and no more bytes than it may', () => {
    cache = new ObjectCache(20 * (object.bytes.length + 300));
    for (const key of keys) {
      cache.add(key, object);
      expect(isThere(keys[0]!)).toBe(true);
    }
    expect(keys.slice(-9).every(isThere)).toBe(true);
    expect(keys.filter(isThere).length).toBeLessThanOrEqual(20);
  });

  it('keeps no object that is larger than half of it', () => {
    cache = new ObjectCache(1000);
    cache.add(keys[0]!, encodeObject(0, [fileEntry('n'.repeat(255), 'c')]));
    expect(isThere(keys[0]!)).toBe(false);
  });
});
