import type { SandboxSecret, SecretBinding } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { bindSecrets, rebindSecrets } from '../../network/secrets/bindings.ts';
import type { SecretName } from '../../network/secrets/stored-secrets.ts';
import type { SandboxContext } from '../context.ts';
import { applyNetwork } from './open-network.ts';
import type { SecretSource } from './secrets-in-force.ts';

type Bindings = readonly SecretBinding[];

/** Rejects with the error of a secret that cannot be used: NOT_FOUND, UNAVAILABLE. Before anything is created. */
export async function requireSecrets(bindings: Bindings, owner_id: string, context: SandboxContext): Promise<void> {
  const source = sourceOf(bindings, context);
  for (const { name, source: kind } of bindings)
    if (kind !== 'redacted' && name !== '') await source?.valueOf(source.find({ owner_id, name }));
}

/** What a new sandbox with these variables and this policy is bound to; undefined: nothing. Does not await. */
export function newSecrets(
  bindings: Bindings,
  owner_id: string,
  { env, network }: Pick<SandboxRecord, 'env'> & { network?: SandboxRecord['network'] | undefined },
  context: SandboxContext,
): SandboxSecret[] | undefined {
  const source = sourceOf(bindings, context);
  const hasNetwork = network !== undefined && network.mode !== 'none';
  return source && bindSecrets(bindings, owner_id, { env, hasNetwork }, source);
}

/** What one fork is bound to. `fork`: what it will have of its own, or of its parent. */
export function forkedSecrets(
  bindings: Bindings,
  parent: SandboxRecord,
  fork: Pick<SandboxRecord, 'env' | 'network'>,
  context: SandboxContext,
): SandboxSecret[] | undefined {
  if (bindings.length > 0) return newSecrets(bindings, parent.owner_id, fork, context);
  const { secrets } = context.platform;
  return secrets && parent.secrets && rebindSecrets(parent, secrets);
}

/** Puts a changed secret in force in running sandboxes. Never rejects. */
export async function secretChanged({ owner_id, name }: SecretName, context: SandboxContext): Promise<void> {
  const { platform } = context;
  const users = [...context.sandboxes.values()].filter(
    ({ record, refusals }) =>
      refusals !== undefined && record.owner_id === owner_id && record.secrets?.some((each) => each.name === name),
  );
  await Promise.all(
    users.map((sandbox) =>
      applyNetwork(sandbox, platform).catch((err: unknown) => {
        platform.log.error('a changed secret is not in force', { sandbox_id: sandbox.id, secret: name, err });
      }),
    ),
  );
}

function sourceOf(bindings: Bindings, { platform: { secrets } }: SandboxContext): SecretSource | undefined {
  if (bindings.length === 0) return undefined;
  if (secrets !== undefined) return secrets;
  throw new ServiceError('FAILED_PRECONDITION', 'this server has no secrets');
}
