import type { ServiceError } from '../errors.ts';
import { CallAdmission, type CountedCall, UNCOUNTED } from '../limits/admission.ts';
import type { CallLimits, Count } from '../limits/limits.ts';
import type { OwnerLimitSource } from '../limits/stored-limits.ts';
import type { Log } from '../log.ts';
import type { KeyRecord, Metadata } from '../metadata/metadata.ts';
import type { Access, Credentials, Keys } from '../services.ts';
import { CallsInProgress } from './calls-in-progress.ts';
import { type CertificateBinding, requireOwnCertificate } from './client-certificate.ts';
import { keyOf, onlyTicket } from './credentials.ts';
import { decide } from './decide.ts';
import { createGuard, OPEN, requireAllowed } from './guard.ts';
import { KeyFiles } from './key-files.ts';
import type { Principal } from './principal.ts';
import { expiredKey, StoredKeys } from './stored-keys.ts';
import type { Owners } from './target.ts';
import { Tickets } from './tickets.ts';
import { pacedChecks } from './wrong-keys.ts';

export interface KeyAccessOptions {
  metadata: Metadata;
  /** The metadata file, beside which keys created on the host are found. */
  dbPath: string;
  /** The admin key of the environment. */
  adminKey: KeyRecord | undefined;
  /** Absent: keys work with every client certificate, and without one. */
  binding?: CertificateBinding | undefined;
  /** The limits of the calls of each key. */
  perKey: CallLimits;
  limits: OwnerLimitSource;
  /** Owner of a sandbox that is gone, to whom its end is told; undefined: unknown. */
  ownerOfGone?: (sandboxId: string) => string | undefined;
  /** The sandbox of a session, with its owner; undefined: it does not exist. Absent: there are no sessions. */
  sessionPlace?: Owners['session'];
  log: Log;
  /** Wall-clock time in milliseconds since the epoch. */
  now?: () => number;
  /** Monotonic clock in milliseconds. */
  uptime?: () => number;
}

/** Access by keys. */
export function openKeyAccess(options: KeyAccessOptions): { access: Access; keys: Keys } {
  const { metadata, dbPath, adminKey, binding, ownerOfGone, sessionPlace, log, now = Date.now } = options;
  const { uptime = () => performance.now() } = options;
  const calls = new CallsInProgress({ now, expired: expiredKey });
  const owners: Owners = {
    sandbox: (id) => metadata.sandboxes.get(id)?.owner_id,
    codebase: (id) => metadata.codebases.get(id)?.owner_id,
    key: (id) => keys.ownerOf(id),
    session: (id) => sessionPlace?.(id),
  };
  const ownersThen: Owners = { ...owners, sandbox: (id) => owners.sandbox(id) ?? ownerOfGone?.(id) };
  const keys = new StoredKeys({
    records: metadata.keys,
    files: new KeyFiles(dbPath),
    fixed: adminKey,
    owners,
    tickets: new Tickets(now),
    ownerOfGone,
    revoked: (id, reason) => calls.end(id, reason),
    now,
    log,
  });
  if (!keys.hasAdmin) warnOfNoAdmin(log);
  const count = countedCalls(options, uptime);
  const checked = pacedChecks(uptime);
  const access: Access = {
    count: (principal, counts) => count(principal, counts).release,
    admit(credentials, need, end, counts) {
      if (need.role === 'public') return OPEN;
      const principal = checked(() => authenticate(keys, credentials(), binding));
      const decision = decide(principal, need);
      // A denied call counts as a request only: an agent must not use up what its owner may create.
      const counted = count(principal, decision.effect === 'allow' ? counts : []);
      try {
        requireAllowed(decision);
      } catch (error) {
        counted.release();
        throw error;
      }
      let ended: ServiceError | undefined;
      const forget = calls.add(principal.key_id, principal.expires_at, (reason) => {
        ended = reason;
        end(reason);
      });
      const release = () => {
        forget();
        counted.release();
      };
      const parts = { principal, need, owners: ownersThen, now, ended: () => ended };
      return createGuard({ ...counted, ...parts, release });
    },
  };
  return { access, keys };
}

/** Returns the function that counts a call. */
function countedCalls({ perKey, limits }: KeyAccessOptions, now: () => number) {
  const admission = new CallAdmission({
    perKey,
    ofOwner: (id) => limits.of(id),
    placeOf: (id, limit) => limits.placeOf(id, limit),
    now,
  });
  /** Operators must be able to act whatever others do, so keys of role admin have no limits. */
  return ({ role, key_id, owner_id }: Principal, counts: readonly Count[]): CountedCall =>
    role === 'admin' ? UNCOUNTED : admission.begin(key_id, owner_id, counts);
}

function warnOfNoAdmin(log: Log): void {
  log.warn(
    'there is no admin key: create one on this host with `paddock key create --admin`, or set PADDOCK_ADMIN_KEY',
  );
}

function authenticate(keys: StoredKeys, given: Credentials, binding: CertificateBinding | undefined): Principal {
  const principal = given.ticket
    ? keys.authenticateTicket(onlyTicket(given, given.ticket))
    : keys.authenticate(keyOf(given));
  if (binding) requireOwnCertificate(principal, given.clientName?.(), binding);
  return principal;
}
