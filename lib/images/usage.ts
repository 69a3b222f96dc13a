import { ServiceError } from '../errors.ts';
import type { ImageLimits } from './image-record.ts';

/** What one import has stored so far; throws RESOURCE_EXHAUSTED at a limit. */
export class ImportUsage {
  /** Of the file system. */
  bytes = 0;
  files = 0;
  /** Of the archive's blobs, which are removed at the end. */
  #blobs = 0;
  readonly #limits: ImageLimits;
  readonly #others: () => number;
  readonly #requireRoom: (stored: number) => void;

  /** `others`: bytes of all other images and imports; `requireRoom`: throws if the disk has no room for so many bytes in all. */
  constructor(limits: ImageLimits, others: () => number, requireRoom: (stored: number) => void = () => undefined) {
    this.#limits = limits;
    this.#others = others;
    this.#requireRoom = requireRoom;
  }

  /** Bytes on the disk now. */
  get stored(): number {
    return this.bytes + this.#blobs;
  }

  addBytes(count: number): void {
    this.bytes += count;
    this.#check(this.bytes);
  }

  addBlob(count: number): void {
    this.#blobs += count;
    this.#check(this.#blobs);
  }

  addFile(): void {
    const { maxFiles } = this.#limits;
    if (++this.files > maxFiles && maxFiles > 0) throw tooMuch(`${maxFiles} files`, 'storage.max_image_files');
  }

  #check(own: number): void {
    const { maxBytes, totalBytes } = this.#limits;
    if (maxBytes > 0 && own > maxBytes) throw tooMuch(`${maxBytes} bytes`, 'storage.max_image_bytes');
    if (totalBytes > 0 && this.#others() + this.stored > totalBytes) {
      throw new ServiceError(
        'RESOURCE_EXHAUSTED',
        `all images together would have more than ${totalBytes} bytes (storage.max_images_bytes)`,
      );
    }
    this.#requireRoom(this.stored);
  }
}

function tooMuch(what: string, key: string): ServiceError {
  return new ServiceError('RESOURCE_EXHAUSTED', `the image has more than ${what} (${key})`);
}
