import type { Api } from './api.ts';
import { Codebases, type Source } from './codebases.ts';
import type { CreateSandboxRequest, Sandbox as SandboxInfo } from './contract/messages.ts';
import { operations } from './contract/operations.ts';
import { ConnectionFailedError, PaddockError, UnavailableError } from './errors.ts';
import { apart, argumentsOf, callOptions } from './http/arguments.ts';
import type { CallOptions } from './http/call.ts';
import { randomId } from './http/transport.ts';
import { invalid } from './invalid.ts';
import type { PackOptions } from './local/pack.ts';
import { bodyOf, PACK } from './local.ts';
import type { NetworkOptions } from './network.ts';
import { presetFor, type RuleOptions } from './rules.ts';

type Fields = Omit<CreateSandboxRequest, 'codebaseId' | 'validateOnly' | 'network' | keyof RuleOptions>;

export interface CreateOptions extends Fields, RuleOptions, PackOptions, CallOptions {
  /** Files of the sandbox: the path of a local directory, or a tar archive. They become a new codebase. */
  from?: Source | undefined;
  /** Id of the codebase, instead of `from`. Neither: a new one without files. */
  codebase?: string | undefined;
  /** Name of the new codebase. */
  name?: string | undefined;
  /**
   * Keep the new codebase when the sandbox is destroyed. By default it is deleted with it, unless `commit` or `fork` of
   * the returned object was called, `autoCommit` is set, or other sandboxes use it.
   */
  keepCodebase?: boolean | undefined;
  /** What its commands can connect to; absent: nothing. */
  network?: NetworkOptions | undefined;
}

export interface Created {
  info: SandboxInfo;
  /** Whether the codebase is to be deleted with the sandbox. */
  ownsCodebase: boolean;
}

const OWN = { from: 'any', codebase: 'string', name: 'string', keepCodebase: 'boolean', ...PACK } as const;

/** Creates a sandbox, and its codebase if none is named: both or none. */
export async function createSandbox(api: Api, options: CreateOptions): Promise<Created> {
  const [{ from, codebase, name, keepCodebase, ...pack }, rest] = apart(options, OWN);
  const call = callOptions(rest);
  const part = { ...call, idempotencyKey: undefined };
  if (from !== undefined && codebase !== undefined) throw invalid('codebase and from exclude each other');
  const given = withPreset(rest);
  if (codebase !== undefined) {
    return { info: await createOrNone(api, codebase, given), ownsCodebase: false };
  }
  // A mistake among the options is found before anything is made.
  argumentsOf('createSandbox', operations.createSandbox, { codebaseId: '-', validateOnly: undefined }, given);
  const body = from === undefined ? undefined : await bodyOf(from, pack);
  const codebases = new Codebases(api);
  const created = await codebases.create({ ...part, name: name ?? nameOf(from) });
  try {
    if (body !== undefined) {
      await validate(api, created.id, { ...given, idempotencyKey: undefined });
      await codebases.upload(created.id, body, part);
    }
    const info = await createOrNone(api, created.id, given);
    const commits = ![undefined, '', 'never'].includes(options.autoCommit);
    return { info, ownsCodebase: !keepCodebase && !commits };
  } catch (error) {
    await api.deleteCodebase({ codebaseId: created.id }).catch(() => undefined);
    throw error;
  }
}

/** Throws what `createSandbox` would throw for these options, so that nothing is uploaded for a sandbox that cannot be. */
export async function validateSandbox(api: Api, options: CreateOptions & { codebase: string }): Promise<void> {
  const [{ codebase = '' }, rest] = apart(options, OWN);
  await validate(api, codebase, { ...withPreset(rest), idempotencyKey: undefined });
}

type Given = CallOptions & Record<string, unknown>;

const validate = (api: Api, codebaseId: string, given: Given) =>
  api.createSandbox({ codebaseId, validateOnly: true }, given);

const withPreset = (options: object): Given => ({ ...options, preset: presetFor(options) });

/** How long an aborted call goes on to remove what it may have created. */
const CLEAN_UP_MS = 30_000;

/**
 * A call that was aborted, or lost its answer, may have created a sandbox that nobody knows. The same call with the same
 * idempotency key returns that one, so that it can be destroyed.
 */
async function createOrNone(api: Api, codebaseId: string, given: Given): Promise<SandboxInfo> {
  const request = { codebaseId, validateOnly: undefined };
  const idempotencyKey = given.idempotencyKey ?? randomId();
  given.signal?.throwIfAborted();
  try {
    return await api.createSandbox(request, { ...given, idempotencyKey });
  } catch (error) {
    // With a key of the caller's it may be the sandbox of an earlier call, and the caller can find it.
    if (given.idempotencyKey === undefined && mayHaveTakenEffect(error)) {
      const cleanUp = { headers: given.headers, signal: AbortSignal.timeout(CLEAN_UP_MS) };
      await api
        .createSandbox(request, {
          ...given,
          ...cleanUp,
          timeout: undefined,
          maxRetries: undefined,
          idempotencyKey,
        } as Given)
        .then(({ id }) => api.destroySandbox({ sandboxId: id, discard: true }, cleanUp))
        .catch(() => undefined);
    }
    throw error;
  }
}

function mayHaveTakenEffect(error: unknown): boolean {
  if (error instanceof ConnectionFailedError) return !error.unsent;
  // The reason of a signal is no error of this package.
  return error instanceof UnavailableError || !(error instanceof PaddockError);
}

const nameOf = (from: Source | undefined): string =>
  (typeof from === 'string' && from.replace(/[/\\.]+$/, '').replace(/^.*[/\\]/, '')) || 'sandbox';
