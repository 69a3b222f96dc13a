import type { Api } from './api.ts';
import type { Image } from './contract/messages.ts';
import type { Body } from './http/call.ts';
import { PAGE_SIZE, pages } from './pages.ts';

interface Signal {
  signal?: AbortSignal | undefined;
}

/** File systems for sandboxes, in place of the host's. */
export class Images {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Stores a tar of a file system, an OCI layout, or what `docker save` writes. Admins only. */
  import(name: string, archive: Body, options: Signal = {}): Promise<Image> {
    return this.#api.importImage({ name }, archive, options);
  }

  get(nameOrId: string, options: Signal = {}): Promise<Image> {
    return this.#api.getImage({ image: nameOrId }, options);
  }

  list(options: Signal = {}): AsyncGenerator<Image, void, void> {
    return pages(
      (pageToken) => this.#api.listImages({ pageToken, pageSize: PAGE_SIZE }, options),
      ({ images }) => images,
    );
  }

  async delete(nameOrId: string, options: Signal = {}): Promise<void> {
    await this.#api.deleteImage({ image: nameOrId }, options);
  }
}
