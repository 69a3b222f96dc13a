import type { NetworkPolicy as PolicyRequest, Runtime as RuntimeName } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { parsePolicy } from '../../network/policy/parse-policy.ts';
import type { NetworkPolicy } from '../../network/policy/policy.ts';
import type { SandboxContext } from '../context.ts';

/**
 * The policy of a new sandbox; undefined: the request has none. Throws INVALID_ARGUMENT naming the field, and
 * FAILED_PRECONDITION if such a sandbox cannot have a network.
 */
export function newPolicy(
  request: PolicyRequest | undefined,
  runtime: RuntimeName,
  context: SandboxContext,
): NetworkPolicy | undefined {
  if (request === undefined) return undefined;
  const policy = parsePolicy(request, 1, context.settings.network.allowMax, 'network.');
  requireNetwork(policy, runtime, context);
  return policy.mode === 'none' ? undefined : policy;
}

/** Of a fork: undefined is that of the forked sandbox, whose revisions do not go on. */
export function forkedPolicy(
  request: PolicyRequest | undefined,
  { network, runtime }: SandboxRecord,
  context: SandboxContext,
): NetworkPolicy | undefined {
  if (request !== undefined) return newPolicy(request, runtime, context) ?? NONE;
  if (network === undefined || network.mode === 'none') return undefined;
  requireNetwork(network, runtime, context);
  return { ...network, revision: 1 };
}

const NONE: NetworkPolicy = { mode: 'none', rules: [], revision: 1 };

/** FAILED_PRECONDITION if a sandbox of this runtime cannot have the network of a policy. */
export function requireNetwork({ mode }: NetworkPolicy, runtime: RuntimeName, context: SandboxContext): void {
  if (mode === 'none') return;
  const { enabled, isDockers } = context.settings.network;
  const refuse = (problem: string) => new ServiceError('FAILED_PRECONDITION', problem);
  if (!enabled || context.platform.networks === undefined) {
    throw refuse('this server has no networks for sandboxes (network.enabled)');
  }
  if (runtime === 'RUNTIME_MOCK') throw refuse('a sandbox of the runtime mock has no network of its own');
  if (runtime === 'RUNTIME_DOCKER' && isDockers) {
    throw refuse(
      'containers have a network of Docker here (runtime.docker.enable_networking), which no policy can control',
    );
  }
}
