import type { HostFileReader } from '../../host-tree/host-file.ts';
import { filtered, forEach } from '../../long-lists.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import { changed, hostFile } from './host-file.ts';
import { batchesOf, isSmall, smallContents } from './small-contents.ts';
import type { TextOf } from './staged.ts';

/** The current contents of a sandbox's changes. Most efficient in the order of the changes. */
export class PresentContents {
  readonly #reader: HostFileReader;
  readonly #contents: ReturnType<typeof smallContents>;
  readonly #text: TextOf;
  /** For each small file, the batch that it is requested with. */
  readonly #batches = new Map<WorkspaceChange, WorkspaceChange[]>();
  #read: { batch: WorkspaceChange[]; contents: Map<WorkspaceChange, Uint8Array> } | undefined;

  private constructor(contents: ReturnType<typeof smallContents>, text: TextOf, reader: HostFileReader) {
    this.#text = text;
    this.#reader = reader;
    this.#contents = contents;
  }

  /** `reader`: must stay open while contents are read. */
  static async make(
    changes: readonly WorkspaceChange[],
    contents: Parameters<typeof smallContents>[0],
    text: TextOf,
    reader: HostFileReader,
  ): Promise<PresentContents> {
    const made = new PresentContents(smallContents(contents), text, reader);
    await forEach(batchesOf(await filtered(changes, isSmall)), (batch) => {
      for (const change of batch) made.#batches.set(change, batch);
    });
    return made;
  }

  /** The content of a file; ABORTED if its size has changed. */
  async *of(change: WorkspaceChange): AsyncGenerator<Uint8Array> {
    const { hostFile: file, size, isText = false } = change.now!;
    if (isText) {
      const text = await this.#text(change.path);
      if (text?.length !== size) throw changed();
      yield text;
      return;
    }
    if (file !== undefined) {
      yield* hostFile(file, size, this.#reader);
      return;
    }
    const batch = this.#batches.get(change)!;
    if (this.#read?.batch !== batch) this.#read = { batch, contents: await this.#contents(batch) };
    const bytes = this.#read.contents.get(change);
    if (bytes?.length !== size) throw changed();
    yield bytes;
  }
}
