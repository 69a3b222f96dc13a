import type { Api } from './api.ts';
import type {
  CreatedKey,
  CreateKeyRequest,
  DeleteSecretRequest,
  GetSecretRequest,
  Image,
  Key,
  ListKeysRequest,
  ListSecretsRequest,
  PutSecretRequest,
  Secret,
} from './contract/messages.ts';
import { ConnectionFailedError } from './errors.ts';
import { joined } from './http/arguments.ts';
import type { Body, CallOptions } from './http/call.ts';

type Named<T> = Omit<T, 'name'>;

/** File systems for sandboxes, in place of the host's. */
export class Images {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Stores a tar of a file system, an OCI layout, or what `docker save` writes. Admins only. */
  import(name: string, archive: Body, options?: CallOptions): Promise<Image> {
    return this.#api.importImage({ name }, archive, options);
  }

  get(nameOrId: string, options?: CallOptions): Promise<Image> {
    return this.#api.getImage({ image: nameOrId }, options);
  }

  list(options?: CallOptions): AsyncGenerator<Image, void, void> {
    return this.#api.listImages({}, options);
  }

  delete(nameOrId: string, options?: CallOptions): Promise<void> {
    return this.#api.deleteImage({ image: nameOrId }, options);
  }
}

const LOST_TWICE = 'the answer with the secret of the new key was lost twice; both keys are revoked';

/** Keys of callers. */
export class Keys {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * The answer is the only one that has the key itself, as `secret`. If it is lost, that key is revoked and another one created.
   * With an `idempotencyKey` of yours this is left to you: `secret` is empty then, and `notice` says why.
   */
  async create(key: CreateKeyRequest, options: CallOptions = {}): Promise<CreatedKey> {
    for (let attempt = 1; ; attempt++) {
      const created = await this.#api.createKey(key, options);
      if (created.secret || created.key === undefined || options.idempotencyKey !== undefined) return created;
      await this.revoke(created.key.id, { headers: options.headers });
      if (attempt === 2) throw new ConnectionFailedError({ message: LOST_TWICE, operation: 'createKey' });
    }
  }

  list(options: ListKeysRequest & CallOptions = {}): AsyncGenerator<Key, void, void> {
    return this.#api.listKeys({}, options);
  }

  revoke(id: string, options?: CallOptions): Promise<void> {
    return this.#api.revokeKey({ keyId: id }, options);
  }
}

/** Values that commands use by placeholders. Nothing returns a value. Only admins name another owner than their own. */
export class Secrets {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Stores or replaces a secret; in force for the next request of each sandbox when it resolves. */
  put(name: string, secret: Named<PutSecretRequest>, options?: CallOptions): Promise<Secret> {
    return this.#api.putSecret({ name } as PutSecretRequest, joined(secret, options));
  }

  get(name: string, options: Named<GetSecretRequest> & CallOptions = {}): Promise<Secret> {
    return this.#api.getSecret({ name }, options);
  }

  list(options: ListSecretsRequest & CallOptions = {}): AsyncGenerator<Secret, void, void> {
    return this.#api.listSecrets({}, options);
  }

  /** `force`: although sandboxes are bound to it. */
  delete(name: string, options: Named<DeleteSecretRequest> & CallOptions = {}): Promise<void> {
    return this.#api.deleteSecret({ name }, options);
  }
}
