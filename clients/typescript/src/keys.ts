import type { Api } from './api.ts';
import type { CreatedKey, CreateKeyRequest, Key } from './contract/messages.ts';
import { type Duration, wholeSecondsOf } from './duration.ts';
import { PAGE_SIZE, pages } from './pages.ts';

interface Signal {
  signal?: AbortSignal | undefined;
}

/** Keys of callers. */
export class Keys {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The answer is the only one that has the key itself, as `secret`. */
  create(
    { expiresIn, ...key }: Omit<CreateKeyRequest, 'expiresIn'> & { expiresIn?: Duration | undefined },
    options: Signal & { idempotencyKey?: string } = {},
  ): Promise<CreatedKey> {
    return this.#api.createKey({ ...key, expiresIn: wholeSecondsOf('expiresIn', expiresIn) }, options);
  }

  list({ ownerId, signal }: { ownerId?: string } & Signal = {}): AsyncGenerator<Key, void, void> {
    return pages(
      (pageToken) => this.#api.listKeys({ ownerId, pageToken, pageSize: PAGE_SIZE }, { signal }),
      ({ keys }) => keys,
    );
  }

  async revoke(id: string, options: Signal = {}): Promise<void> {
    await this.#api.revokeKey({ keyId: id }, options);
  }
}
