import { Images, Keys, Secrets } from './administration.ts';
import { type Api, createApi } from './api.ts';
import { all } from './changes.ts';
import { Codebases } from './codebases.ts';
import type { Caller, ListSandboxesRequest, Preset } from './contract/messages.ts';
import { type CreateOptions, validateSandbox } from './create.ts';
import { joined } from './http/arguments.ts';
import type { CallOptions, Settings } from './http/call.ts';
import { Sandbox } from './sandbox.ts';

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
  health(options?: CallOptions): Promise<{ status: string }> {
    return this.api.health({}, options);
  }

  /** The rights of the key. */
  caller(options?: CallOptions): Promise<Caller> {
    return this.api.getCaller({}, options);
  }

  /** Named sets of rules. */
  presets(options?: CallOptions): Promise<Preset[]> {
    return all(this.api.listPresets({}, options));
  }
}

class Sandboxes {
  readonly #paddock: Paddock;

  constructor(paddock: Paddock) {
    this.#paddock = paddock;
  }

  create(options: CreateOptions = {}): Promise<Sandbox> {
    return Sandbox.create(joined(options, { paddock: this.#paddock }));
  }

  /** Throws what `create` would throw for these options and the id of a codebase: before a long upload to it. */
  validate(options: CreateOptions & { codebase: string }): Promise<void> {
    return validateSandbox(this.#paddock.api, options);
  }

  get(id: string, options: CallOptions = {}): Promise<Sandbox> {
    return Sandbox.connect(id, joined(options, { paddock: this.#paddock }));
  }

  /** Every sandbox that the filter selects, the newest first. */
  async *list(options: ListSandboxesRequest & CallOptions = {}): AsyncGenerator<Sandbox, void, void> {
    const { api } = this.#paddock;
    for await (const info of api.listSandboxes({}, options)) yield new Sandbox(api, info);
  }
}
