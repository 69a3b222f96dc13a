import type { ListPortsResponse, OpenedPort, OpenPortResponse } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { PortRecord } from '../../metadata/metadata.ts';
import { PortConnections } from '../../network/ports/connections.ts';
import type { Dialer } from '../../network/ports/dialer.ts';
import { newLinkToken } from '../../network/ports/link-token.ts';
import { type PreviewDomain, portUrl } from '../../network/ports/preview-domain.ts';
import { missing } from '../../not-found.ts';
import type { NewPort, Ports } from '../../port-services.ts';
import type { SandboxContext } from '../context.ts';
import { runnable } from '../exec/exec.ts';
import { isExpired } from '../host/clock.ts';
import { doorOf, type PortContext } from './door.ts';

/** Opened ports of one sandbox. */
const MAX_PORTS = 64;

/** The operations on opened ports. What is opened is part of the record of its sandbox. The caller closes the dialer. */
export function createPorts(sandboxes: SandboxContext, dialer: Dialer, domain?: PreviewDomain): Ports {
  const connections = new PortConnections(() => sandboxes.clock.now(), sandboxes.platform.descriptors.ports);
  const context: PortContext = { sandboxes, connections, dialer, domain };
  return {
    open: (request) => openPort(request, context),
    list: ({ sandbox_id, listening }, signal) => listPorts(sandbox_id, listening, signal, context),
    get: (sandboxId, port) => view(sandboxId, find(sandboxId, port, context), context),
    close: (sandboxId, port) => closePort(sandboxId, port, context),
    find: (sandboxId, port) => {
      const sandbox = sandboxes.sandboxes.get(sandboxId);
      const record = sandbox && opened(sandboxId, context).find((each) => each.port === port);
      return record && doorOf(sandbox, record, context);
    },
  };
}

async function openPort(
  { sandbox_id, port, access: asked, expires_in }: NewPort,
  context: PortContext,
): Promise<OpenPortResponse> {
  const access = asked || 'key';
  const { token, sha256 } = newLinkToken();
  const { clock, metadata } = context.sandboxes;
  const record = await context.sandboxes.change(sandbox_id, async (sandbox) => {
    const now = Math.floor(clock.now() / 1000);
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
    await sandbox.update({ ports }, metadata.sandboxes);
    context.connections.cut(sandbox_id, port);
    return added;
  });
  return { ...view(sandbox_id, record, context), link_token: access === 'link' ? token : '' };
}

async function listPorts(
  id: string,
  listening: boolean,
  signal: AbortSignal,
  context: PortContext,
): Promise<ListPortsResponse> {
  const numbers = new Set<number>();
  if (listening) {
    const sandbox = await runnable(id, signal, context.sandboxes);
    if (!sandbox.running) throw sandbox.refuse();
    for (const { port } of (await context.sandboxes.ports.at(sandbox.running)).ports) numbers.add(port);
  }
  return { ports: opened(id, context).map((each) => view(id, each, context)), listening: [...numbers] };
}

async function closePort(id: string, port: number, context: PortContext): Promise<void> {
  await context.sandboxes.change(id, async (sandbox) => {
    find(id, port, context);
    const left = opened(id, context).filter((each) => each.port !== port);
    await sandbox.update({ ports: left.length > 0 ? left : undefined }, context.sandboxes.metadata.sandboxes);
    context.connections.cut(id, port);
  });
}

/** The ports of a sandbox that are open now. NOT_FOUND if there is no such sandbox. */
function opened(id: string, { sandboxes }: PortContext): readonly PortRecord[] {
  const { ports = [] } = sandboxes.find(id).record;
  return ports.filter(({ expires_at }) => !isExpired(expires_at, sandboxes.clock));
}

function find(id: string, port: number, context: PortContext): PortRecord {
  const found = opened(id, context).find((each) => each.port === port);
  if (found) return found;
  throw missing('port', String(port), `port ${port} of sandbox ${id} is not open: open it first`);
}

function view(sandbox_id: string, record: PortRecord, { domain }: PortContext): OpenedPort {
  const { port, access, expires_at, created_at } = record;
  return { sandbox_id, port, url: portUrl(domain, sandbox_id, port), access, expires_at, created_at };
}
