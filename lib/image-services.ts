import type { Image } from './contract/messages.ts';
import type { Page } from './paging.ts';

/** The file systems of sandboxes of RUNTIME_BWRAP, shared by all owners. */
export interface Images {
  /** All or nothing, durable when the call resolves. The archive is read while it is unpacked. */
  import(name: string, archive: AsyncIterable<Uint8Array>): Promise<Image>;
  /** `image`: a name or an id. */
  get(image: string): Image;
  list(page: Page): { images: Image[]; next_page_token: string };
  /** FAILED_PRECONDITION, listing the sandboxes, while sandboxes use it. */
  delete(image: string): Promise<void>;
}
