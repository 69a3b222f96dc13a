import type { Disk } from '../../disk/disk.ts';
import type { Key } from '../../trees/format/keys.ts';
import type { OpenFiles } from '../open-files.ts';
import { ifReadable, type Pack } from '../packs/pack.ts';
import { PACK_HEADER, type Packed, RECORD_HEADER, readRecord, seedOf } from '../packs/record.ts';

const WINDOW = 256 * 1024;

/**
 * A pack to which a writer appends, in this process or another. Its records are found by their headers, one after the other, up
 * to the first that is not whole: payloads are checked when they are read.
 */
export class GrowingPack implements Pack {
  readonly name: string;
  readonly seed: number;
  readonly sealed = false;
  readonly #disk: Disk;
  readonly #files: OpenFiles;
  readonly #path: string;
  readonly #records = new Map<Key, Packed>();
  #end = PACK_HEADER;

  constructor(disk: Disk, files: OpenFiles, path: string, name: string) {
    this.#disk = disk;
    this.#files = files;
    this.#path = path;
    this.name = name;
    this.seed = seedOf(name);
  }

  get objects(): number {
    return this.#records.size;
  }

  get bytes(): number {
    return this.#end;
  }

  find(key: Key): Packed | undefined {
    return this.#records.get(key);
  }

  records(): Iterable<Packed> {
    return this.#records.values();
  }

  read(record: Packed): Buffer {
    const bytes = Buffer.allocUnsafeSlow(RECORD_HEADER + record.length);
    return bytes.subarray(0, this.#disk.pread(this.fd(), bytes, record.offset - RECORD_HEADER));
  }

  fd(): number {
    return this.#files.fd(this.#path);
  }

  /** Takes what has come since. A step reads one part of the file. */
  *grow(): Generator<void, void, void> {
    const window = Buffer.allocUnsafeSlow(WINDOW);
    for (;;) {
      const read = this.#disk.pread(this.fd(), window, this.#end);
      if (!this.#take(window.subarray(0, read)) || read < WINDOW) return;
      yield;
    }
  }

  /**
   * A writer that could not sync cuts the file, and the next one appends others there. If the file does not end where the records
   * do, all is to be read anew: then this is true.
   */
  restart(): boolean {
    const isWhole = ifReadable(() => this.#disk.size(this.fd()) === this.#end) ?? true;
    if (isWhole) return false;
    this.#records.clear();
    this.#end = PACK_HEADER;
    return true;
  }

  close(): void {
    this.#files.forget(this.#path);
  }

  remove(): never {
    throw new Error('its writer removes it');
  }

  /** Records whose headers begin in the bytes at the end. false: there is none. */
  #take(bytes: Buffer): boolean {
    const start = this.#end;
    // The last record may reach far behind the window.
    const size = this.#disk.size(this.fd());
    for (let at = 0; at + RECORD_HEADER <= bytes.length; at = this.#end - start) {
      const record = readRecord(bytes, at, this.seed);
      const offset = start + at + RECORD_HEADER;
      if (record === undefined || offset + record.length > size) break;
      this.#records.set(record.key, { ...record, offset });
      this.#end = offset + record.length;
    }
    return this.#end > start;
  }
}
