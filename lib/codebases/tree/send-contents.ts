import { Gathered } from '../../archive/gathered.ts';
import { MAX_PACKED } from '../../store/limits.ts';
import type { Opened } from '../../threads/calls.ts';
import { ownBytes } from '../../threads/own-bytes.ts';
import type { Place, Sending, TreeStores, UploadOptions } from './stores/tree-stores.ts';
import type { Uploaded } from './upload.ts';

/**
 * Uploads what comes. Small contents are one message; of others the next is asked for while at most two messages of 1 MiB are on
 * their way. An error of the content leaves the codebase as it is.
 */
export async function sendContents(
  stores: TreeStores,
  at: () => Place,
  path: string,
  options: UploadOptions,
  content: AsyncIterable<Uint8Array>,
): Promise<Uploaded> {
  const first: Uint8Array[] = [];
  let length = 0;
  let large: LargeUpload | undefined;
  try {
    for await (const piece of content) {
      length += piece.length;
      if (large === undefined && length <= MAX_PACKED) first.push(piece);
      else {
        large ??= new LargeUpload(await stores.upload(at(), path, options));
        for (const each of [...first.splice(0), piece]) await large.add(each);
      }
    }
    return await (large?.end() ?? stores.put(at(), path, options, ownBytes(first, length)));
  } finally {
    await large?.close();
  }
}

class LargeUpload {
  readonly #sending: Sending;
  readonly #gathered: Gathered;

  constructor({ remote }: Opened<Sending>) {
    this.#sending = remote;
    this.#gathered = new Gathered(async (bytes) => {
      await remote.write(bytes);
      return false;
    });
  }

  async add(piece: Uint8Array): Promise<void> {
    await this.#gathered.add(piece);
  }

  async end(): Promise<Uploaded> {
    await this.#gathered.end();
    return this.#sending.end();
  }

  /** Never rejects: its thread may have ended. */
  async close(): Promise<void> {
    await this.#gathered.settled();
    await this.#sending.close().catch(() => undefined);
  }
}
