import { Gathered } from '../../archive/gathered.ts';
import { MAX_PACKED } from '../../store/limits.ts';
import type { Opened } from '../../threads/calls.ts';
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
        large ??= await LargeUpload.begin(await stores.upload(at(), path, options), first);
        await large.add(piece);
      }
    }
    return await (large?.end() ?? stores.put(at(), path, options, joined(first, length)));
  } finally {
    await large?.close();
  }
}

class LargeUpload {
  readonly #sending: Sending;
  readonly #gathered: Gathered;

  private constructor({ remote }: Opened<Sending>) {
    this.#sending = remote;
    this.#gathered = new Gathered(async (bytes) => {
      await remote.write(bytes);
      return false;
    });
  }

  static async begin(opened: Opened<Sending>, first: readonly Uint8Array[]): Promise<LargeUpload> {
    const upload = new LargeUpload(opened);
    for (const piece of first) await upload.add(piece);
    return upload;
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

/** A message has the whole memory that its bytes are a part of. */
function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
