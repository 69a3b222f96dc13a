/**
 * Sandboxes for the Vercel AI SDK (ai 7, @ai-sdk/harness 1): `generateText({ experimental_sandbox: sandboxSession(sandbox) })`,
 * and a provider for HarnessAgent, which finds the sandbox of a session again.
 */
import {
  HarnessSandboxAuthenticationError,
  type HarnessV1NetworkPolicy,
  type HarnessV1NetworkSandboxSession,
  type HarnessV1SandboxProvider,
} from '@ai-sdk/harness';
import {
  type CreateOptions,
  FailedPreconditionError,
  type NetworkOptions,
  NotFoundError,
  Paddock,
  PermissionDeniedError,
  type Sandbox,
  UnauthenticatedError,
} from 'paddock-sandbox';
import { WORKSPACE } from '../shared/files.ts';
import { destroy, ownership } from '../shared/ownership.ts';
import { closeLink, portLink } from '../shared/ports.ts';
import { sandboxSession } from './session.ts';

export { sandboxSession };

export interface ProviderOptions extends Omit<CreateOptions, 'signal'> {
  paddock?: Paddock;
  /** Ports of servers in the sandbox, for example of the harness itself, which are opened when they are asked for. */
  ports?: readonly number[];
}

const LABEL = 'ai-sdk-session';

/** Sandboxes for HarnessAgent. */
export function sandboxProvider({
  paddock = new Paddock(),
  ports = [],
  ...options
}: ProviderOptions = {}): HarnessV1SandboxProvider {
  return {
    specificationVersion: 'harness-sandbox-v1',
    providerId: 'paddock',
    async createSession({ sessionId, abortSignal: signal, onFirstCreate } = {}) {
      const label = sessionId === undefined ? {} : { [LABEL]: sessionId };
      const labels = { ...options.labels, ...label, ...ownership(options) };
      const sandbox = await authenticated(paddock.sandboxes.create({ ...options, labels, signal }));
      const session = networkSession(sandbox, ports);
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
      const { value: sandbox } = await authenticated(found.next());
      if (!sandbox) throw new Error(`no sandbox has the session ${sessionId}`);
      if (sandbox.info.status === 'stopped') await sandbox.resume({ signal });
      return networkSession(sandbox, ports);
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

/** The policy of a harness. Names and networks that it allows are allowed at the ports 80 and 443. */
function policyOf(policy: HarnessV1NetworkPolicy): NetworkOptions {
  if (policy.mode !== 'custom') return { mode: policy.mode === 'allow-all' ? 'open' : 'none' };
  const { allowedHosts = [], allowedCIDRs = [], deniedCIDRs = [] } = policy;
  const rules = [
    ...allowedHosts.map((host) => ({ host })),
    ...allowedCIDRs.map((cidr) => ({ cidr })),
    ...deniedCIDRs.map((cidr) => ({ cidr, action: 'deny' })),
  ];
  return { mode: 'allow_list', rules };
}

function networkSession(sandbox: Sandbox, ports: readonly number[]): HarnessV1NetworkSandboxSession {
  let exposed = ports;
  const open = async (port: number, protocol?: string) => (await portLink(sandbox, port, protocol)).href;
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
    get ports() {
      return exposed;
    },
    getPortEndpoint: async ({ port, protocol }) => ({ url: await open(port, protocol) }),
    getPortUrl: ({ port, protocol }) => open(port, protocol),
    setPorts: async (wanted) => {
      const left = (await sandbox.ports.opened()).filter(({ port }) => !wanted.includes(port));
      for (const { port } of left) await closeLink(sandbox, port).catch(unless(NotFoundError));
      exposed = [...wanted];
    },
    setNetworkPolicy: async (policy) => void (await sandbox.network.set(policyOf(policy))),
    stop: () => sandbox.stop().catch(unless(NotFoundError, FailedPreconditionError)),
    // A sandbox whose changes cannot be committed automatically is not destroyed: an error.
    destroy: () => destroy(sandbox).catch(unless(NotFoundError)),
    restricted: () => restricted,
  };
}
