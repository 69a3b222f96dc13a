import type { Log } from '../log.ts';
import type { KeyRecord, Metadata } from '../metadata/metadata.ts';
import type { Access, Keys } from '../services.ts';
import { CallsInProgress } from './calls-in-progress.ts';
import { keyOf } from './credentials.ts';
import { decide } from './decide.ts';
import { createGuard, OPEN, requireAllowed } from './guard.ts';
import { KeyFiles } from './key-files.ts';
import { expiredKey, StoredKeys } from './stored-keys.ts';
import type { Owners } from './target.ts';

export interface KeyAccessOptions {
  metadata: Metadata;
  /** The metadata file, beside which keys created on the host are found. */
  dbPath: string;
  /** The admin key of the environment. */
  adminKey: KeyRecord | undefined;
  log: Log;
  /** Wall-clock time in milliseconds since the epoch. */
  now?: () => number;
}

/** Access by keys. */
export function openKeyAccess({ metadata, dbPath, adminKey, log, now = Date.now }: KeyAccessOptions): {
  access: Access;
  keys: Keys;
} {
  const calls = new CallsInProgress({ now, expired: expiredKey });
  const owners: Owners = {
    sandbox: (id) => metadata.sandboxes.get(id)?.owner_id,
    codebase: (id) => metadata.codebases.get(id)?.owner_id,
    key: (id) => keys.ownerOf(id),
  };
  const keys = new StoredKeys({
    records: metadata.keys,
    files: new KeyFiles(dbPath),
    fixed: adminKey,
    owners,
    revoked: (id, reason) => calls.end(id, reason),
    now,
    log,
  });
  if (!keys.hasAdmin) {
    log.warn(
      'there is no admin key: create one on this host with `paddock key create --admin`, or set PADDOCK_ADMIN_KEY',
    );
  }
  const access: Access = {
    admit(credentials, need, end) {
      if (need.role === 'public') return OPEN;
      const principal = keys.authenticate(keyOf(credentials()));
      requireAllowed(decide(principal, need));
      const release = calls.add(principal.key_id, principal.expires_at, end);
      return createGuard({ principal, need, owners, now, release });
    },
  };
  return { access, keys };
}
