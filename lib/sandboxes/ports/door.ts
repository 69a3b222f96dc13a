import type { Socket } from 'node:net';
import { ServiceError } from '../../errors.ts';
import type { PortRecord } from '../../metadata/metadata.ts';
import type { PortConnections } from '../../network/ports/connections.ts';
import type { Dialer } from '../../network/ports/dialer.ts';
import { isLinkToken } from '../../network/ports/link-token.ts';
import type { PreviewDomain } from '../../network/ports/preview-domain.ts';
import type { Door } from '../../port-services.ts';
import type { RunningSandbox } from '../../runtime/runtime.ts';
import type { SandboxContext } from '../context.ts';
import { runnable } from '../exec/exec.ts';
import type { LiveSandbox } from '../sandbox.ts';

/** What the operations on ports share. */
export interface PortContext {
  sandboxes: SandboxContext;
  connections: PortConnections;
  dialer: Dialer;
  /** Absent: ports are reached by paths of this service. */
  domain: PreviewDomain | undefined;
}

/** An opened port of a sandbox, for callers from outside. */
export function doorOf(
  { id, record: { owner_id } }: LiveSandbox,
  { port, sha256, expires_at }: PortRecord,
  context: PortContext,
): Door {
  return {
    expires_at,
    // Not the form of the id of a key.
    holder: {
      role: 'agent',
      owner_id,
      sandbox_id: id,
      scopes: ['exec'],
      expires_at,
      key_id: `link ${id} ${port}`,
    },
    accepts: (token) => sha256 !== undefined && isLinkToken(token, sha256),
    use: (cut) => ({
      connect: (signal) => connect(id, port, signal, context),
      route: (signal) => ({
        name: routeName(id, port, context),
        connect: () => connect(id, port, signal, context),
      }),
      end: context.connections.add(id, port, expires_at, cut),
    }),
  };
}

function routeName(id: string, port: number, { sandboxes, connections }: PortContext): string {
  const running = sandboxes.sandboxes.get(id)?.running;
  return `${id} ${port} ${connections.cuts} ${running && pidOf(running)}`;
}

async function connect(
  id: string,
  port: number,
  signal: AbortSignal,
  { sandboxes, dialer }: PortContext,
): Promise<Socket> {
  const sandbox = await runnable(id, signal, sandboxes);
  const { running } = sandbox;
  if (!running) throw sandbox.refuse();
  const pid = running.networkPid();
  const socket = await dialer.connect(pid, port);
  // A pid may be used again: only while the sandbox runs it is certain to be its own.
  if (sandbox.running === running && isStill(running, pid) && !signal.aborted) return socket;
  socket.on('error', () => undefined).destroy();
  throw new ServiceError('UNAVAILABLE', `sandbox ${id} has ended`);
}

const isStill = (running: RunningSandbox, pid: number) => pidOf(running) === pid;

/** undefined: it has ended. */
function pidOf(running: RunningSandbox): number | undefined {
  try {
    return running.networkPid();
  } catch {
    return undefined;
  }
}
