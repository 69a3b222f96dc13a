import type { Api } from './api.ts';
import type { PutSecretRequest, Secret } from './contract/messages.ts';
import { PAGE_SIZE, pages } from './pages.ts';

interface Of {
  /** Only admins name another owner than their own. */
  ownerId?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Values that commands use by placeholders. Nothing returns a value. */
export class Secrets {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Stores or replaces a secret; in force for the next request of each sandbox when it resolves. */
  put(
    name: string,
    secret: Omit<PutSecretRequest, 'name'>,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<Secret> {
    return this.#api.putSecret({ ...secret, name }, options);
  }

  get(name: string, { ownerId, signal }: Of = {}): Promise<Secret> {
    return this.#api.getSecret({ name, ownerId }, { signal });
  }

  list({ ownerId, signal }: Of = {}): AsyncGenerator<Secret, void, void> {
    return pages(
      (pageToken) => this.#api.listSecrets({ ownerId, pageToken, pageSize: PAGE_SIZE }, { signal }),
      ({ secrets }) => secrets,
    );
  }

  /** `force`: although sandboxes are bound to it. */
  async delete(name: string, { ownerId, force, signal }: Of & { force?: boolean | undefined } = {}): Promise<void> {
    await this.#api.deleteSecret({ name, ownerId, force }, { signal });
  }
}
