import { unauthenticated } from './credentials.ts';
import type { Principal } from './principal.ts';

/** Binds keys to the client certificates of their owners. The threat: a stolen key, used from somewhere else. */
export interface CertificateBinding {
  /** Common names whose certificates may be used with keys that have no owner: those of admins. */
  adminNames: readonly string[];
}

/** Throws UNAUTHENTICATED unless `name`, the common name of the client's certificate, is that of the key's owner. */
export function requireOwnCertificate(
  { owner_id }: Pick<Principal, 'owner_id'>,
  name: string | undefined,
  { adminNames }: CertificateBinding,
): void {
  const own = name !== undefined && (owner_id === '' ? adminNames.includes(name) : name === owner_id);
  if (!own) throw unauthenticated('the client certificate is not that of the owner of the key');
}
