import { type Api, createApi } from './api.ts';
import { Codebases } from './codebases.ts';
import type { Caller, ListSandboxesRequest, Preset, Sandbox as SandboxInfo } from './contract/messages.ts';
import { type CreateOptions, validateSandbox } from './create.ts';
import type { Settings } from './http/call.ts';
import { Images } from './images.ts';
import { Keys } from './keys.ts';
import { PAGE_SIZE, pages } from './pages.ts';
import { Sandbox } from './sandbox.ts';
import { Secrets } from './secrets.ts';

interface Signal {
  signal?: AbortSignal | undefined;
}

/** A server. Without settings it is that of PADDOCK_URL, with the key of PADDOCK_KEY. */
export class Paddock {
  /** Methods of all operations, with the fields of the contract. */
  readonly api: Api;
  readonly sandboxes: Sandboxes;
  readonly codebases: Codebases;
  readonly images: Images;
  readonly keys: Keys;
  readonly secrets: Secrets;

  constructor(settings: Settings = {}) {
    this.api = createApi(settings);
    this.sandboxes = new Sandboxes(this);
    this.codebases = new Codebases(this.api);
    this.images = new Images(this.api);
    this.keys = new Keys(this.api);
    this.secrets = new Secrets(this.api);
  }

  /** Resolves if the server answers. Needs no key. */
  async health(options: Signal = {}): Promise<{ status: string }> {
    return this.api.health({}, options);
  }

  /** The rights of the key. */
  caller(options: Signal = {}): Promise<Caller> {
    return this.api.getCaller({}, options);
  }

  /** Named sets of rules. */
  async presets(options: Signal = {}): Promise<readonly Preset[]> {
    return (await this.api.listPresets({}, options)).presets;
  }
}

class Sandboxes {
  readonly #paddock: Paddock;

  constructor(paddock: Paddock) {
    this.#paddock = paddock;
  }

  create(options: CreateOptions = {}): Promise<Sandbox> {
    return Sandbox.create({ ...options, paddock: this.#paddock });
  }

  /** Throws what `create` would throw for these options and the id of a codebase: before a long upload to it. */
  validate(options: CreateOptions & { codebase: string }): Promise<void> {
    return validateSandbox(this.#paddock.api, options);
  }

  get(id: string, options: Signal = {}): Promise<Sandbox> {
    return Sandbox.get(id, { ...options, paddock: this.#paddock });
  }

  /** Every sandbox that the filter selects, the newest first. */
  list(
    options: Omit<ListSandboxesRequest, 'pageSize' | 'pageToken'> & Signal = {},
  ): AsyncGenerator<SandboxInfo, void, void> {
    const { signal, ...filter } = options;
    return pages(
      (pageToken) => this.#paddock.api.listSandboxes({ ...filter, pageToken, pageSize: PAGE_SIZE }, { signal }),
      ({ sandboxes }) => sandboxes,
    );
  }
}
