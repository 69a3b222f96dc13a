import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Unzstd } from '../archive/unzstd.ts';
import type { Image } from '../contract/messages.ts';
import { ServiceError } from '../errors.ts';
import { hostError } from '../host-error.ts';
import { removeTree } from '../host-tree/remove-tree.ts';
import { UploadRoom } from '../host-tree/upload-room.ts';
import type { Images } from '../image-services.ts';
import type { Reserve } from '../linux/disk-room.ts';
import type { Log } from '../log.ts';
import { notFound } from '../not-found.ts';
import { type Page, pageById } from '../paging.ts';
import type { RootFileSystem } from '../runtime/root-file-system.ts';
import { SerialQueue } from '../serial-queue.ts';
import type { Threads } from '../threads/thread-pool.ts';
import { hexOf, publish, readImages, writeRecord } from './image-directory.ts';
import type { ImageLimits, ImageRecord } from './image-record.ts';
import { type Imported, importImage } from './import-image.ts';
import type { EtcFiles } from './prepare-root.ts';
import { ImportUsage } from './usage.ts';

/** Imports in progress. */
const MAX_IMPORTS = 4;

export interface ImageStoreOptions {
  /** A directory of the server, for images only. */
  path: string;
  limits: ImageLimits;
  /** Room of the disk that imports may not use; absent: none. */
  reserve?: Reserve;
  etc: EtcFiles;
  unzstd: Threads<Unzstd>;
  log: Log;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/**
 * The images of a server, each in a directory with the name of its digest. An image appears there with one rename, whole
 * and durable, and disappears with one; everything else in the directory is removed at the start.
 */
export class ImageStore implements Images {
  readonly #options: ImageStoreOptions;
  readonly #now: () => number;
  readonly #images = new Map<string, ImageRecord>();
  readonly #imports = new Set<ImportUsage>();
  /** Changes of the directory, one after the other. */
  readonly #queue = new SerialQueue();
  #usedBy: (id: string) => string[] = () => [];

  private constructor(options: ImageStoreOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  static async open(options: ImageStoreOptions): Promise<ImageStore> {
    const store = new ImageStore(options);
    for (const image of await readImages(options.path, options.log)) store.#images.set(image.id, image);
    return store;
  }

  /** `usedBy`: the ids of the sandboxes that use an image, in any state. */
  connect(usedBy: (id: string) => string[]): void {
    this.#usedBy = usedBy;
  }

  /** By name or id; undefined: there is none. */
  #find(image: string): ImageRecord | undefined {
    const byId = this.#images.get(image);
    if (byId !== undefined) return byId;
    let newest: ImageRecord | undefined;
    for (const each of this.#images.values()) {
      if (!Object.hasOwn(each.names, image)) continue;
      // Two have it if the server ended while it was given from one to the other.
      if (newest === undefined || each.names[image]! > newest.names[image]!) newest = each;
    }
    return newest;
  }

  /** What a sandbox sees of an image. */
  rootOf(image: string): (RootFileSystem & { id: string }) | undefined {
    const found = this.#find(image);
    if (found === undefined) return undefined;
    const { id, entries, env, resetsSignals } = found;
    return { id, name: hexOf(id), entries, env, resetsSignals };
  }

  async import(name: string, archive: AsyncIterable<Uint8Array>): Promise<Image> {
    if (this.#imports.size >= MAX_IMPORTS) {
      throw new ServiceError('RESOURCE_EXHAUSTED', `${MAX_IMPORTS} images are being imported; try again later`);
    }
    const usage: ImportUsage = new ImportUsage(
      this.#options.limits,
      () => this.#bytesWithout(usage),
      new UploadRoom(this.#options.path, this.#options.reserve ?? 0).admitting(),
    );
    this.#imports.add(usage);
    const work = join(this.#options.path, `import-${randomUUID()}`);
    try {
      await mkdir(work);
      await chmod(work, 0o711);
      const known = (id: string) => this.#images.has(id);
      const imported = await importImage(work, archive, {
        usage,
        etc: this.#options.etc,
        unzstd: this.#options.unzstd,
        known,
      });
      return await this.#queue.run(() => this.#add(work, imported, name));
    } catch (error) {
      throw hostError(error, 'the image could not be stored');
    } finally {
      this.#imports.delete(usage);
      await removeTree(work).catch((err: unknown) => this.#left(work, err));
    }
  }

  get(image: string): Image {
    return this.#shown(this.#require(image));
  }

  list(page: Page): { images: Image[]; next_page_token: string } {
    const { items, next_page_token } = pageById('images', this.#images.values(), page, (image) => this.#shown(image));
    return { images: items, next_page_token };
  }

  delete(image: string): Promise<void> {
    return this.#queue.run(async () => {
      const record = this.#require(image);
      const { id } = record;
      const users = this.#usedBy(id);
      if (users.length > 0) {
        throw new ServiceError(
          'FAILED_PRECONDITION',
          `image ${id} is used by the sandboxes ${users.sort().join(', ')}`,
        );
      }
      // At once, so that no new sandbox uses it.
      this.#images.delete(id);
      const removed = join(this.#options.path, `removed-${randomUUID()}`);
      try {
        await rename(join(this.#options.path, hexOf(id)), removed);
      } catch (error) {
        this.#images.set(id, record);
        throw hostError(error, 'the image could not be deleted');
      }
      await removeTree(removed).catch((err: unknown) => this.#left(removed, err));
    });
  }

  /** From the queue. */
  async #add(work: string, imported: Imported | { id: string }, name: string): Promise<Image> {
    const { path } = this.#options;
    const present = this.#images.get(imported.id);
    const names = { ...present?.names, [name]: this.#now() };
    const previous = this.#find(name);
    let record: ImageRecord;
    if (present !== undefined) {
      record = Object.freeze({ ...present, names });
      await writeRecord(join(path, hexOf(record.id)), record);
    } else {
      // Deleted while the archive was read.
      if (!('format' in imported)) throw new ServiceError('ABORTED', 'the image was deleted meanwhile; try again');
      record = Object.freeze({ ...imported, names, created_at: Math.floor(this.#now() / 1000) });
      await publish(path, work, record);
    }
    this.#images.set(record.id, record);
    if (previous !== undefined && previous.id !== record.id) await this.#takeName(previous, name);
    return this.#shown(record);
  }

  /** Not stored at once, a name that another image was given later is that one's. */
  async #takeName(image: ImageRecord, name: string): Promise<void> {
    const { [name]: _, ...names } = image.names;
    const record = Object.freeze({ ...image, names });
    await writeRecord(join(this.#options.path, hexOf(image.id)), record);
    this.#images.set(image.id, record);
  }

  #require(image: string): ImageRecord {
    const found = this.#find(image);
    if (found === undefined) throw notFound('image', image);
    return found;
  }

  #shown({ entries: _, resetsSignals: __, names, ...image }: ImageRecord): Image {
    const own = Object.keys(names).filter((name) => this.#find(name)?.id === image.id);
    return { ...image, names: own.sort(), env: { ...image.env } };
  }

  #bytesWithout(usage: ImportUsage): number {
    let bytes = 0;
    for (const { total_size } of this.#images.values()) bytes += total_size;
    for (const each of this.#imports) if (each !== usage) bytes += each.stored;
    return bytes;
  }

  #left(path: string, err: unknown): void {
    this.#options.log.warn('files of an image could not be removed, and will be at the next start', { path, err });
  }
}
