import { describe, expect, it } from 'vitest';
import { Check, type Finding } from '../../../../lib/store/check/check.ts';
import type { Roots } from '../../../../lib/store/garbage/roots.ts';
import type { ObjectStore } from '../../../../lib/store/object-store.ts';
import { hexOf } from '../../../../lib/store/packs/record.ts';
import { type Key, placeKey } from '../../../../lib/trees/format/keys.ts';
import { noTotals } from '../../../../lib/trees/format/totals.ts';
import { SimulatedDisk } from '../../disk/simulated-disk.ts';
import { entryAt } from '../../trees/edit.ts';
import { keyOfBytes } from '../../trees/memory.ts';
import { putVersion, rootsOf } from '../garbage/stored-trees.ts';
import { FOLDER, largeBytes, newStore, version } from '../stores.ts';

const LARGE = largeBytes(1);
const FILES = { 'src/a': 'text a', 'src/b': 'text b', 'doc/a': 'text a', large: LARGE.toString('latin1') };

function setUp() {
  const disk = new SimulatedDisk();
  const store = newStore(disk);
  const key = putVersion(store, 7, FILES);
  return { disk, store, key, roots: rootsOf({ 'version 7': key }) };
}

function check(store: ObjectStore, disk: SimulatedDisk, roots: Roots, reads = true): Finding[] {
  return [...new Check({ store, disk, roots, reads }).steps()].flatMap((found) => found ?? []);
}

/** Flips a bit of the payload of an object in a pack. */
function flip(disk: SimulatedDisk, store: ObjectStore, key: Key): { file: string; offset: number } {
  const { pack, offset } = store.find(key)!;
  const fd = disk.open(`${FOLDER}/packs/${pack}.open`, 'write');
  const byte = Buffer.alloc(1);
  disk.pread(fd, byte, offset + 3);
  disk.pwrite(fd, Buffer.from([byte[0]! ^ 1]), offset + 3);
  disk.close(fd);
  return { file: `pack ${pack}`, offset };
}

describe('a check', () => {
  it('finds nothing in a whole store, and reads each object once', () => {
    const { disk, store, roots } = setUp();
    const whole = new Check({ store, disk, roots, reads: true });
    expect([...whole.steps()].every((found) => found === undefined)).toBe(true);
    // The version, three directories, two texts and a large file.
    expect(whole.objects).toBe(7);
    expect(whole.bytes).toBeGreaterThan(LARGE.length);
  });

  it('does not ask for the trees that a commit left in the store of its sandbox, which may be gone', () => {
    const { disk, store } = setUp();
    const writing = store.begin();
    const place = placeKey({ store: 9n, segment: 1, offset: 0, length: 100, crc: 1 });
    const tree = { ...version(8).root, key: place, size: 1, totals: { ...noTotals(), files: 1, longest: 1 } };
    const commit = { sandboxId: 's', id: Buffer.alloc(16), mineBefore: tree, mineAfter: tree, baseAfter: tree };
    const key = writing.putVersion(version(8, { kind: 'commit', commit }));
    writing.sync();
    expect(check(store, disk, rootsOf({ 'version 8': key }))).toEqual([]);
  });

  it('names contents that are damaged: pack, offset, digest, and the first path that leads there', () => {
    const { disk, store, roots } = setUp();
    const key = keyOfBytes('text a');
    const place = flip(disk, store, key);
    const [found, ...others] = check(store, disk, roots);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ digest: hexOf(key), place, root: 'version 7', path: 'doc/a' });
    expect(found!.message).toBe(
      `the object ${hexOf(key)} is damaged: ${place.file} at byte ${place.offset}; it is named by version 7 at "doc/a"`,
    );
  });

  it('names a directory that is damaged, and goes on beside it', () => {
    const { disk, store, roots, key } = setUp();
    const directory = entryAt(store, store.version(key).root, 'doc')!.key;
    flip(disk, store, keyOfBytes('text b'));
    const place = flip(disk, store, directory);
    const found = check(store, disk, roots);
    expect(found.map(({ path }) => path)).toEqual(['doc', 'src/b']);
    expect(found[0]).toMatchObject({ digest: hexOf(directory), place });
  });

  it('names large contents that are damaged or missing', () => {
    const { disk, store, roots } = setUp();
    const name = hexOf(keyOfBytes(LARGE));
    const path = `${FOLDER}/blobs/${name.slice(0, 2)}/${name}`;
    const fd = disk.open(path, 'write');
    disk.pwrite(fd, Buffer.from('x'), 9);
    disk.close(fd);
    expect(check(store, disk, roots)).toMatchObject([{ digest: name, path: 'large', place: { offset: 0 } }]);
    disk.unlink(path);
    expect(check(store, disk, roots)).toMatchObject([{ digest: name, path: 'large', place: undefined }]);
    expect(disk.openFiles).toBeLessThan(3);
  });

  it('names a version that is missing', () => {
    const { disk, store } = setUp();
    const message = `the object ${hexOf(keyOfBytes('gone'))} is missing; it is named by tag v1`;
    expect(check(store, disk, rootsOf({ 'tag v1': keyOfBytes('gone') }))).toMatchObject([{ path: '', message }]);
  });

  it('only looks whether contents are there, if they are not to be read', () => {
    const { disk, store, roots } = setUp();
    flip(disk, store, keyOfBytes('text a'));
    expect(check(store, disk, roots, false)).toEqual([]);
  });
});
