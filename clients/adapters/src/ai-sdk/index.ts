/**
 * Sandboxes for the Vercel AI SDK (ai 7, @ai-sdk/harness 1): `generateText({ experimental_sandbox: sandboxSession(sandbox) })`,
 * and a provider for HarnessAgent, which finds the sandbox of a session again.
 */
import {
  HarnessCapabilityUnsupportedError,
  HarnessSandboxAuthenticationError,
  type HarnessV1NetworkSandboxSession,
  type HarnessV1SandboxProvider,
} from '@ai-sdk/harness';
import {
  type CreateOptions,
  FailedPreconditionError,
  NotFoundError,
  Paddock,
  PermissionDeniedError,
  type Sandbox,
  UnauthenticatedError,
} from 'paddock-sandbox';
import { WORKSPACE } from '../shared/files.ts';
import { destroy, ownership } from '../shared/ownership.ts';
import { sandboxSession } from './session.ts';

export { sandboxSession };

export interface ProviderOptions extends Omit<CreateOptions, 'signal'> {
  paddock?: Paddock;
}

const LABEL = 'ai-sdk-session';

/** Sandboxes for HarnessAgent. Without `preset`, `rules` and `permissions` they have the preset "development". */
export function sandboxProvider({
  paddock = new Paddock(),
  ...options
}: ProviderOptions = {}): HarnessV1SandboxProvider {
  return {
    specificationVersion: 'harness-sandbox-v1',
    providerId: 'paddock',
    async createSession({ sessionId, abortSignal: signal, onFirstCreate } = {}) {
      const label = sessionId === undefined ? {} : { [LABEL]: sessionId };
      const labels = { ...options.labels, ...label, ...ownership(options) };
      const ruled = options.preset ?? options.rules ?? options.permissions;
      const preset = ruled === undefined ? { preset: 'development' } : {};
      const sandbox = await authenticated(paddock.sandboxes.create({ ...preset, ...options, labels, signal }));
      const session = networkSession(sandbox);
      try {
        await onFirstCreate?.(session.restricted(), signal === undefined ? {} : { abortSignal: signal });
      } catch (error) {
        await Promise.resolve(session.destroy()).catch(() => undefined);
        throw error;
      }
      return session;
    },
    async resumeSession({ sessionId, abortSignal: signal }) {
      const found = paddock.sandboxes.list({ labels: { [LABEL]: sessionId }, signal });
      const { value } = await authenticated(found.next());
      if (!value) throw new Error(`no sandbox has the session ${sessionId}`);
      const sandbox = await paddock.sandboxes.get(value.id, { signal });
      if (sandbox.info.status === 'SANDBOX_STOPPED') await sandbox.resume({ signal });
      return networkSession(sandbox);
    },
  };
}

async function authenticated<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof UnauthenticatedError || error instanceof PermissionDeniedError)) throw error;
    throw new HarnessSandboxAuthenticationError({ message: error.message, sandboxProviderId: 'paddock', cause: error });
  }
}

function networkSession(sandbox: Sandbox): HarnessV1NetworkSandboxSession {
  const noPorts = async (): Promise<never> => {
    throw new HarnessCapabilityUnsupportedError({ message: 'the ports of a sandbox cannot be reached from outside' });
  };
  const unless =
    (...ended: (typeof NotFoundError | typeof FailedPreconditionError)[]) =>
    (error: unknown): void => {
      if (!ended.some((kind) => error instanceof kind)) throw error;
    };
  const restricted = sandboxSession(sandbox);
  return {
    ...restricted,
    id: sandbox.id,
    defaultWorkingDirectory: WORKSPACE,
    ports: [],
    getPortEndpoint: noPorts,
    getPortUrl: noPorts,
    stop: () => sandbox.stop().catch(unless(NotFoundError, FailedPreconditionError)),
    // A sandbox whose changes cannot be committed automatically is not destroyed: an error.
    destroy: () => destroy(sandbox).catch(unless(NotFoundError)),
    restricted: () => restricted,
  };
}
