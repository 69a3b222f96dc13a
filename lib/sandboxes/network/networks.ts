import type {
  Connection,
  ExplainNetworkRequest,
  ListConnectionsRequest,
  NetworkExplanation,
  NetworkPolicy,
  UpdateNetworkRequest,
} from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { explain, type PlacedNetworkRule } from '../../network/policy/explain.ts';
import { ownAddresses } from '../../network/policy/own-addresses.ts';
import { parsePolicy } from '../../network/policy/parse-policy.ts';
import { NETWORK_PRESETS } from '../../network/policy/presets.ts';
import { NO_NETWORK, shownPolicy, shownRule } from '../../network/policy/shown-policy.ts';
import type { Networks } from '../../network-services.ts';
import { cursorOf, fitting, tokenOf } from '../../paging.ts';
import type { SandboxContext } from '../context.ts';
import { WatchPauses } from './network-watch.ts';
import { changeNetwork } from './open-network.ts';
import { requireNetwork } from './policies.ts';
import { shownConnection } from './shown-connection.ts';
import { watchNetwork } from './watches.ts';

/** All operations on the networks of sandboxes. */
export function createNetworks(context: SandboxContext): Networks {
  const pauses = new WatchPauses();
  return {
    get: (id) => shownPolicy(policyOf(id, context)),
    update: (request) => updateNetwork(request, context),
    explain: (request) => explainNetwork(request, context),
    connections: (request) => listConnections(request, context),
    watch: (request, signal) => watchNetwork(request, signal, context, pauses),
    presets: () => NETWORK_PRESETS.map((preset) => ({ ...preset, rules: preset.rules.map(shownRule) })),
  };
}

const policyOf = (id: string, context: SandboxContext) => context.find(id).record.network ?? NO_NETWORK;

/**
 * Stores the policy before it takes effect: after a crash the restarted sandbox has either the new one, or the old one
 * without the call having succeeded. If it cannot take effect, the old one stays. A policy that is in force already keeps
 * its revision.
 */
async function updateNetwork(request: UpdateNetworkRequest, context: SandboxContext): Promise<NetworkPolicy> {
  return context.change(request.sandbox_id, async (sandbox) => {
    const before = sandbox.record.network;
    const { mode, rules, revision } = before ?? NO_NETWORK;
    if (request.revision !== 0 && request.revision !== revision) {
      throw new ServiceError(
        'ABORTED',
        `the policy has the revision ${revision}, not ${request.revision}: it was changed`,
      );
    }
    const policy = parsePolicy(request, revision + 1, context.settings.network.allowMax);
    requireNetwork(policy, sandbox.record.runtime, context);
    const isSame = JSON.stringify([policy.mode, policy.rules]) === JSON.stringify([mode, rules]);
    if (isSame) return shownPolicy(before ?? NO_NETWORK);
    await sandbox.update({ network: policy }, context.metadata.sandboxes);
    try {
      await changeNetwork(sandbox, context.platform);
    } catch (error) {
      await sandbox.update({ network: before }, context.metadata.sandboxes);
      throw error;
    }
    return shownPolicy(policy);
  });
}

function explainNetwork(
  { sandbox_id, host, port, method, path }: ExplainNetworkRequest,
  context: SandboxContext,
): NetworkExplanation {
  const target = { host, address: undefined, port, ...(method && { method }), ...(path && { path }) };
  const limits = { allowMax: context.settings.network.allowMax, ownAddresses };
  const { decision, winner, beaten, reason, host: name } = explain(policyOf(sandbox_id, context), target, limits);
  return {
    allowed: decision.allowed,
    code: decision.code,
    reason,
    ...(winner && { winner: placed(winner) }),
    beaten: beaten.map(placed),
    inspect: decision.inspect,
    host: name,
  };
}

const placed = ({ index, rule }: PlacedNetworkRule) => ({ index, rule: shownRule(rule) });

/** None if the network is not open. */
async function listConnections(
  { sandbox_id, page_size, page_token }: ListConnectionsRequest,
  context: SandboxContext,
): Promise<{ connections: Connection[]; next_page_token: string }> {
  const scope = `connections ${sandbox_id}`;
  const before = Number(cursorOf(scope, page_token) ?? Number.POSITIVE_INFINITY);
  const isOpen = context.find(sandbox_id).refusals !== undefined;
  const all = isOpen ? await context.platform.networks!.connections(sandbox_id) : [];
  const rest = all.filter(({ sequence }) => sequence < before).sort((a, b) => b.sequence - a.sequence);
  const connections = fitting(rest.slice(0, page_size).map(shownConnection));
  const isLast = connections.length === rest.length;
  return { connections, next_page_token: isLast ? '' : tokenOf(scope, String(rest[connections.length - 1]!.sequence)) };
}
