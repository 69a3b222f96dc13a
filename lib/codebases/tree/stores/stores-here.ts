import { setImmediate } from 'node:timers/promises';
import type { FileInfo } from '../../../contract/messages.ts';
import type { Disk } from '../../../disk/disk.ts';
import { hostDisk } from '../../../disk/host-disk.ts';
import { notFound } from '../../../not-found.ts';
import { MAX_PACKED } from '../../../store/limits.ts';
import { Opened } from '../../../threads/calls.ts';
import { checksumOf } from '../checksum.ts';
import { storeError } from '../store-error.ts';
import type { Uploaded } from '../upload.ts';
import type { OpenCodebase } from './open-codebase.ts';
import { OpenCodebases, type StoresOptions } from './open-codebases.ts';
import type {
  Exporting,
  FileFacts,
  HeadKeeper,
  Importing,
  LargeFile,
  Listing,
  Place,
  Sending,
  SmallFile,
  TreeStores,
  UploadOptions,
} from './tree-stores.ts';

/** Bytes of an archive that are unpacked in one step: some milliseconds of small files. */
const FED = 256 * 1024;

/** The stores of codebases in the thread of the caller. */
export class StoresHere implements TreeStores {
  readonly #open: OpenCodebases;

  constructor(options: StoresOptions, keeper: HeadKeeper, disk: Disk = hostDisk) {
    this.#open = new OpenCodebases(options, keeper, disk);
  }

  put(at: Place, path: string, options: UploadOptions, bytes: Uint8Array): Promise<Uploaded> {
    return this.#with(at, async (open) => {
      const upload = open.codebase.upload(path, options);
      try {
        open.stored += bytes.length;
        upload.write(bytes);
        return await upload.end();
      } finally {
        upload.drop();
      }
    });
  }

  upload(at: Place, path: string, options: UploadOptions): Promise<Opened<Sending>> {
    return this.#opening(at, (open, run, close) => {
      const upload = open.codebase.upload(path, options);
      const write = async (bytes: Uint8Array) => {
        open.stored += bytes.length;
        upload.write(bytes);
      };
      const sending: Sending = {
        write: (bytes) => run(() => write(bytes)),
        end: () => run(() => upload.end()),
        close: () => close(() => upload.drop()),
      };
      return new Opened(sending, undefined);
    });
  }

  remove(at: Place, path: string): Promise<void> {
    return this.#with(at, ({ codebase }) => codebase.remove(path));
  }

  list(at: Place, request: Listing): Promise<{ files: FileInfo[]; next_page_token: string }> {
    return this.#with(at, async ({ codebase }) => codebase.list(request));
  }

  open(at: Place, path: string): Promise<SmallFile | Opened<LargeFile, FileFacts>> {
    return this.#opening<SmallFile | Opened<LargeFile, FileFacts>>(at, ({ codebase }, run, close) => {
      const entry = codebase.file(path);
      const { size, key, mtime } = entry;
      const facts = { size, checksum: checksumOf(key), modified_at: mtime };
      const reader = codebase.reader(entry);
      // A message has the whole memory that bytes are a part of.
      if (size <= MAX_PACKED) return { ...facts, bytes: new Uint8Array(reader.at(0, size)) };
      const file: LargeFile = {
        read: (from, length) => run(async () => reader.at(from, length)),
        close: () => close(() => reader.close()),
      };
      return new Opened(file, facts);
    });
  }

  import(at: Place): Promise<Opened<Importing>> {
    return this.#opening(at, (open, run, close) => {
      const importing = open.codebase.import();
      const feed = async (bytes: Uint8Array) => {
        let isDone = false;
        open.stored += bytes.length;
        for (let from = 0; from < bytes.length && !isDone; from += FED) {
          if (from > 0) await setImmediate();
          isDone = await importing.feed(bytes.subarray(from, from + FED));
        }
        return isDone;
      };
      const remote: Importing = {
        feed: (bytes) => run(() => feed(bytes)),
        finish: (mode, onlyAt, owner) => {
          open.owner.present = owner;
          return run(() => importing.finish(mode, onlyAt));
        },
        close: () => close(() => importing.drop()),
      };
      return new Opened(remote, undefined);
    });
  }

  export(at: Place, path: string): Promise<Opened<Exporting>> {
    return this.#opening(at, (open, run, close) => {
      const exporting = open.codebase.export(path);
      const read = { root: open.codebase.head.root.key };
      open.reads.add(read);
      const remote: Exporting = {
        next: () => run(async () => exporting.next()),
        close: () =>
          close(() => {
            exporting.close();
            open.reads.delete(read);
          }),
      };
      return new Opened(remote, undefined);
    });
  }

  forget(id: string): Promise<void> {
    return this.#open.forget(id);
  }

  async close(): Promise<void> {
    this.#open.close();
  }

  async #with<T>(at: Place, use: (open: OpenCodebase) => Promise<T>): Promise<T> {
    const open = this.#enter(at);
    try {
      return await use(open);
    } catch (error) {
      throw failure(at.id, open, error);
    } finally {
      this.#open.leave(at.id, open);
    }
  }

  /** What is opened is a user of the codebase until it is closed; other answers are none. */
  async #opening<T>(
    at: Place,
    open: (
      codebase: OpenCodebase,
      run: <R>(call: () => Promise<R>) => Promise<R>,
      close: (last: () => void) => Promise<void>,
    ) => T,
  ): Promise<T> {
    const entered = this.#enter(at);
    let isOpen = false;
    const run = async <R>(call: () => Promise<R>): Promise<R> => {
      try {
        return await call();
      } catch (error) {
        throw failure(at.id, entered, error);
      }
    };
    const close = async (last: () => void) => {
      if (!isOpen) return;
      isOpen = false;
      last();
      this.#open.leave(at.id, entered);
    };
    try {
      const opened = await run(async () => open(entered, run, close));
      isOpen = opened instanceof Opened;
      return opened;
    } finally {
      if (!isOpen) this.#open.leave(at.id, entered);
    }
  }

  #enter(at: Place): OpenCodebase {
    try {
      return this.#open.enter(at);
    } catch (error) {
      throw storeError(error);
    }
  }
}

/** What is left of a codebase that was deleted meanwhile is no damage. */
function failure(id: string, open: OpenCodebase, error: unknown): unknown {
  return open.isForgotten ? notFound('codebase', id) : storeError(error);
}
