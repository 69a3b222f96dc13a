import type { ListPortsResponse, OpenedPort, OpenPortResponse } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { PortRecord } from '../../metadata/metadata.ts';
import { PortConnections } from '../../network/ports/connections.ts';
import { newLinkToken } from '../../network/ports/link-token.ts';
import { missing } from '../../not-found.ts';
import type { NewPort, Ports } from '../../port-services.ts';
import type { SandboxContext } from '../context.ts';
import { runnable } from '../exec/exec.ts';
import { isExpired } from '../host/clock.ts';

/** Opened ports of one sandbox. */
const MAX_PORTS = 64;

/** The operations on opened ports. What is opened is part of the record of its sandbox. */
export function createPorts(context: SandboxContext): Ports {
  const connections = new PortConnections(() => context.clock.now());
  return {
    open: (request) => openPort(request, connections, context),
    list: ({ sandbox_id, listening }, signal) => listPorts(sandbox_id, listening, signal, context),
    get: (sandboxId, port) => view(sandboxId, find(sandboxId, port, context)),
    close: (sandboxId, port) => closePort(sandboxId, port, connections, context),
  };
}

async function openPort(
  { sandbox_id, port, access: asked, expires_in }: NewPort,
  connections: PortConnections,
  context: SandboxContext,
): Promise<OpenPortResponse> {
  const access = asked || 'key';
  const { token, sha256 } = newLinkToken();
  const record = await context.change(sandbox_id, async (sandbox) => {
    const now = Math.floor(context.clock.now() / 1000);
    const others = opened(sandbox_id, context).filter((each) => each.port !== port);
    if (others.length >= MAX_PORTS) {
      const problem = `sandbox ${sandbox_id} has ${MAX_PORTS} opened ports, the maximum: close one`;
      throw new ServiceError('RESOURCE_EXHAUSTED', problem);
    }
    const added: PortRecord = {
      port,
      access,
      ...(access === 'link' && { sha256 }),
      expires_at: expires_in === 0 ? 0 : now + expires_in,
      created_at: now,
    };
    const ports = [...others, added].sort((a, b) => a.port - b.port);
    await sandbox.update({ ports }, context.metadata.sandboxes);
    connections.cut(sandbox_id, port);
    return added;
  });
  return { ...view(sandbox_id, record), link_token: access === 'link' ? token : '' };
}

async function listPorts(
  id: string,
  listening: boolean,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<ListPortsResponse> {
  const numbers = new Set<number>();
  if (listening) {
    const sandbox = await runnable(id, signal, context);
    if (!sandbox.running) throw sandbox.refuse();
    for (const { port } of (await context.ports.at(sandbox.running)).ports) numbers.add(port);
  }
  return { ports: opened(id, context).map((each) => view(id, each)), listening: [...numbers] };
}

async function closePort(
  id: string,
  port: number,
  connections: PortConnections,
  context: SandboxContext,
): Promise<void> {
  await context.change(id, async (sandbox) => {
    find(id, port, context);
    const left = opened(id, context).filter((each) => each.port !== port);
    await sandbox.update({ ports: left.length > 0 ? left : undefined }, context.metadata.sandboxes);
    connections.cut(id, port);
  });
}

/** The ports of a sandbox that are open now. NOT_FOUND if there is no such sandbox. */
function opened(id: string, context: SandboxContext): readonly PortRecord[] {
  const { ports = [] } = context.find(id).record;
  return ports.filter(({ expires_at }) => !isExpired(expires_at, context.clock));
}

function find(id: string, port: number, context: SandboxContext): PortRecord {
  const found = opened(id, context).find((each) => each.port === port);
  if (found) return found;
  throw missing('port', String(port), `port ${port} of sandbox ${id} is not open: OpenPort opens it`);
}

function view(sandbox_id: string, { port, access, expires_at, created_at }: PortRecord): OpenedPort {
  return { sandbox_id, port, url: `/v1/sandboxes/${sandbox_id}/ports/${port}/proxy/`, access, expires_at, created_at };
}
