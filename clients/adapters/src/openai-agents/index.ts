/**
 * A sandbox client for the OpenAI Agents SDK (@openai/agents 0.20): `run(agent, input, { sandbox: { client: new
 * PaddockClient() } })`. What the model does, by the shell, the file tools and `apply_patch`, obeys the rules of the
 * sandbox; what the application does (the manifest, archives of the workspace) is done as its owner.
 */
import {
  Manifest,
  normalizeSandboxClientCreateArgs,
  type SandboxClient,
  type SandboxClientCreateArgs,
  type SandboxClientResumeOptions,
  SandboxConfigurationError,
} from '@openai/agents/sandbox';
import { deserializeManifest, serializeManifestRecord } from '@openai/agents-core/sandbox/internal';
import { type Client, type CreateOptions, Sandbox } from 'paddock-sandbox';
import { ownership } from '../shared/ownership.ts';
import { PaddockSession, type PaddockState } from './session.ts';
import { assertNoArchiveLimits, assertSupported, failing, unsupported } from './support.ts';

/** Options of new sandboxes. */
export type PaddockOptions = Omit<CreateOptions, 'signal'> & Client & Record<string, unknown>;

export class PaddockClient implements SandboxClient<PaddockOptions, PaddockState> {
  readonly backendId = 'paddock';
  readonly #defaults: PaddockOptions;

  constructor(defaults: PaddockOptions = {}) {
    this.#defaults = defaults;
  }

  /** A sandbox with the files and variables of the manifest: both or none. */
  async create(
    args?: SandboxClientCreateArgs<PaddockOptions> | Manifest,
    manifestOptions?: PaddockOptions,
  ): Promise<PaddockSession> {
    const { manifest, options, snapshot, archiveLimits } = normalizeSandboxClientCreateArgs(args, manifestOptions);
    assertNoArchiveLimits(archiveLimits);
    if (snapshot && snapshot.type !== 'noop') throw unsupported(`snapshots of type ${snapshot.type}`);
    assertSupported(manifest);
    const environment = await manifest.resolveEnvironment();
    const chosen: PaddockOptions = { ...this.#defaults, ...options };
    const sandbox = await failing(
      Sandbox.create({
        ...chosen,
        env: { ...chosen.env, ...environment },
        labels: { ...chosen.labels, ...ownership(chosen) },
      }),
    );
    const state = { manifest: new Manifest(), sandboxId: sandbox.id, environment, workspaceReady: true };
    const session = new PaddockSession(sandbox, state);
    try {
      await session.applyManifest(manifest);
    } catch (error) {
      await session.delete();
      throw error;
    }
    return session;
  }

  async delete(state: PaddockState): Promise<void> {
    await (await this.resume(state)).delete();
  }

  /** A session that this program owns ends with its run, and its sandbox with it. */
  canPersistOwnedSessionState(): boolean {
    return false;
  }

  async serializeSessionState({ manifest, sandboxId }: PaddockState): Promise<Record<string, unknown>> {
    return { sandboxId, manifest: serializeManifestRecord(manifest) };
  }

  async deserializeSessionState(record: Record<string, unknown>): Promise<PaddockState> {
    const { sandboxId, manifest } = record;
    if (typeof sandboxId !== 'string') throw new SandboxConfigurationError('the state names no sandbox');
    return { sandboxId, manifest: deserializeManifest(manifest as never), environment: {}, workspaceReady: true };
  }

  /** The sandbox of a state, which is started if it is stopped. */
  async resume(
    state: PaddockState,
    { clientOptions, archiveLimits }: SandboxClientResumeOptions<PaddockOptions> = {},
  ): Promise<PaddockSession> {
    assertNoArchiveLimits(archiveLimits);
    const { paddock } = { ...this.#defaults, ...clientOptions };
    const session = new PaddockSession(await failing(Sandbox.connect(state.sandboxId, { paddock })), state);
    if (!(await session.running())) await session.start();
    return session;
  }
}

export { PaddockSession, type PaddockState } from './session.ts';
