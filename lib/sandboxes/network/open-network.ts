import { ServiceError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { NO_NETWORK } from '../../network/policy/shown-policy.ts';
import type { SandboxNetworks } from '../../network/worker/networks.ts';
import { SerialQueue } from '../../serial-queue.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { RefusalLog } from './refusal-log.ts';
import { type SecretSource, secretsInForce } from './secrets-in-force.ts';

/** undefined: the server has none. */
type Networks = SandboxNetworks | undefined;

interface Parts {
  networks?: Networks;
  authorities?: string | undefined;
  secrets?: SecretSource | undefined;
  log: Log;
}

/** Secrets are read and put in force in one turn, so that of two changes the later one stays. */
const turns = new WeakMap<LiveSandbox, SerialQueue>();

function inTurn(sandbox: LiveSandbox, task: () => Promise<void>): Promise<void> {
  const queue = turns.get(sandbox) ?? new SerialQueue();
  turns.set(sandbox, queue);
  return queue.run(task);
}

/**
 * Opens the network of a sandbox that was launched, as its policy says; nothing if that has none. No command runs before. Rejects
 * with FAILED_PRECONDITION or UNAVAILABLE; the caller takes the sandbox down.
 */
export async function openNetwork(sandbox: LiveSandbox, { networks, authorities, ...source }: Parts): Promise<void> {
  const { id, record, running } = sandbox;
  const policy = record.network ?? NO_NETWORK;
  if (policy.mode === 'none' || running === undefined) return;
  if (networks === undefined) {
    throw new ServiceError('FAILED_PRECONDITION', 'this server has no networks for sandboxes (network.enabled)');
  }
  if (record.secrets?.length && authorities === undefined) {
    throw new ServiceError(
      'UNAVAILABLE',
      'secrets do not work: this server cannot look into connections; its log says why',
    );
  }
  const pid = running.networkPid();
  // Set before: a failed attempt is closed like an open one.
  sandbox.refusals = new RefusalLog((since) => networks.refusals(id, since));
  await inTurn(sandbox, async () => networks.open(id, pid, policy, await secretsInForce(record, source)));
  // Otherwise the number may have been that of another process when it was used.
  if (running.networkPid() !== pid)
    throw new ServiceError('UNAVAILABLE', 'the sandbox ended while its network was opened');
  running.setNetwork({}, isInspected(record) ? authorities : undefined);
}

/** Puts the policy in the record in force for a running sandbox, also for what is connected. */
export async function changeNetwork(sandbox: LiveSandbox, parts: Parts): Promise<void> {
  const { networks } = parts;
  const { record, running, refusals } = sandbox;
  if (running === undefined) return;
  const policy = record.network ?? NO_NETWORK;
  if (policy.mode === 'none') {
    await closeNetwork(sandbox, networks);
    running.setNetwork(undefined);
  } else if (refusals === undefined) {
    await openNetwork(sandbox, parts).catch(async (error: unknown) => {
      await closeNetwork(sandbox, networks).catch(() => undefined);
      throw error;
    });
  } else {
    await applyNetwork(sandbox, parts);
    running.setNetwork({}, isInspected(record) ? parts.authorities : undefined);
  }
}

/** Puts the policy and the secrets of a sandbox in force as they are now; nothing if its network is not open. */
export function applyNetwork(sandbox: LiveSandbox, { networks, ...source }: Parts): Promise<void> {
  return inTurn(sandbox, async () => {
    const secrets = await secretsInForce(sandbox.record, source);
    const { id, record, refusals } = sandbox;
    // Closed meanwhile: it gets both as they are when it is opened again.
    if (refusals !== undefined && record.network !== undefined) await networks?.update(id, record.network, secrets);
  });
}

/** Nothing if it is not open. */
export async function closeNetwork(sandbox: LiveSandbox, networks: Networks): Promise<void> {
  if (sandbox.refusals === undefined) return;
  await sandbox.refusals.close();
  await networks?.close(sandbox.id);
  sandbox.refusals = undefined;
}

/** Whether connections of the sandbox may be looked into. */
function isInspected({ network, secrets = [] }: SandboxRecord): boolean {
  const rules = network?.rules ?? [];
  return (
    secrets.length > 0 || rules.some((rule) => rule.tls !== '' || rule.methods.length > 0 || rule.path_prefix !== '')
  );
}
