import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../handlers/index.ts';
import { openKeyAccess } from '../../lib/access/key-access.ts';
import { ServiceError } from '../../lib/errors.ts';
import { NO_LIMITS } from '../../lib/limits/limits.ts';
import { ReceivedBytes } from '../../lib/limits/received-bytes.ts';
import { unlimitedOwners } from '../../lib/limits/stored-limits.ts';
import { silentLog } from '../../lib/log.ts';
import type { KeyRecord, Metadata } from '../../lib/metadata/metadata.ts';
import type { Services } from '../../lib/services.ts';
import { callGrpc, callRest, type Outcome } from './access-calls.ts';
import { grpcOver, type Rest, type Rpc as RpcServer, restOver } from './clients.ts';
import { exampleRequest } from './example-requests.ts';
import { noRetries } from './fake-services.ts';
import { keyFor, tableOf } from './keyed-services.ts';

/** What a request of ann names. */
const IDS = {
  sandbox_id: 'sb_ann',
  process_id: 'pr_1',
  session_id: 'se_ann',
  codebase_id: 'cb_ann',
  key_id: 'annskey1',
};

/**
 * What each caller may do, by what an operation needs. `proto/service/v1/released.txt` says what that is. The callers in
 * order: an agent of the sandbox, an agent of another sandbox, the owner, another owner, an admin. `+`: the operation is
 * carried out; `-`: PERMISSION_DENIED; `0`: NOT_FOUND.
 */
const ALLOWED: Readonly<Record<string, string>> = {
  public: '+++++',
  'agent on nothing': '+++++',
  'agent on sandbox': '+0+0+',
  'agent on session': '+0+0+',
  'owner on sandbox': '--+0+',
  'owner on codebase': '--+0+',
  'owner on key': '--+0+',
  'owner on owner': '--+++',
  'owner on ann': '--+-+',
  'owner on new-key': '--+++',
  'owner on nothing': '--+++',
  'admin on nothing': '----+',
};

const OUTCOMES: Readonly<Record<string, Outcome>> = { '+': 'reached', '-': 'PERMISSION_DENIED', '0': 'NOT_FOUND' };

const NOW = Date.now();

const created = {
  expired: keyFor({ owner_id: 'ann', expires_at: Math.floor(NOW / 1000) - 1 }),
  revoked: keyFor({ owner_id: 'ann' }),
  agent: keyFor({ role: 'agent', owner_id: 'ann', sandbox_id: 'sb_ann' }),
  'agent of another sandbox': keyFor({ role: 'agent', owner_id: 'ann', sandbox_id: 'sb_ann2' }),
  owner: keyFor({ owner_id: 'ann' }),
  'another owner': keyFor({ owner_id: 'bob' }),
  admin: keyFor({ role: 'admin' }),
};
const CALLERS = ['agent', 'agent of another sandbox', 'owner', 'another owner', 'admin'] as const;

/** Services whose operations all end with UNIMPLEMENTED: the call has passed the decision. */
function reachedServices(): Services {
  const records: KeyRecord[] = Object.values(created).map(({ record }) => record);
  const metadata = {
    codebases: tableOf([{ id: 'cb_ann', owner_id: 'ann' }]),
    sandboxes: tableOf([
      { id: 'sb_ann', owner_id: 'ann' },
      { id: 'sb_ann2', owner_id: 'ann' },
    ]),
    keys: tableOf([...records, { ...created.owner.record, id: 'annskey1' }]),
    owners: tableOf([]),
  } as unknown as Metadata;
  let uptime = 0;
  const { access, keys } = openKeyAccess({
    metadata,
    dbPath: '/nonexistent/db',
    adminKey: undefined,
    sessionPlace: (id) => (id === IDS.session_id ? { sandbox: 'sb_ann', owner: 'ann' } : undefined),
    perKey: NO_LIMITS,
    limits: unlimitedOwners(0),
    log: silentLog,
    // So much time passes between two calls that no answer to a wrong key is held back.
    uptime: () => (uptime += 60_000),
  });
  void keys.revoke(created.revoked.record.id);
  const reached = () => {
    throw new ServiceError('UNIMPLEMENTED', 'reached');
  };
  const everything = new Proxy({}, { get: () => reached }) as never;
  return {
    sandboxes: everything,
    processes: everything,
    sessions: everything,
    networks: everything,
    ports: everything,
    codebases: everything,
    images: everything,
    keys: everything,
    owners: everything,
    secrets: everything,
    textTools: everything,
    access,
    retries: noRetries,
    received: new ReceivedBytes(),
  };
}

let rest: Rest;
let rpc: RpcServer;
beforeAll(async () => {
  rest = await restOver(reachedServices());
  rpc = await grpcOver(reachedServices());
});
afterAll(async () => {
  await rest.close();
  await rpc.close();
});

const rows = operations.map((row) => ({ ...row, what: `${row.operation} by ${row.method} ${row.path}` }));

describe.each(rows)('$what', (row) => {
  const { owner_id, ...fields } = exampleRequest(row.operation, IDS);
  const namesOwner = row.path.includes('{owner_id}');
  const request = namesOwner ? { ...fields, owner_id } : fields;
  const restOutcome = (key?: string) => callRest(rest.url, row, request, key);
  const grpcOutcome = (key?: string) =>
    row.operation === 'Health' ? 'reached' : callGrpc(rpc.client, row.operation, request, key);
  const denied = row.operation === 'Health' ? 'reached' : 'UNAUTHENTICATED';

  it('needs a valid key', async () => {
    const wrong = `${created.owner.text.slice(0, -4)}AAAA`;
    const truncated = created.owner.text.slice(0, -1);
    for (const key of [undefined, wrong, truncated, '', created.expired.text, created.revoked.text]) {
      expect([await restOutcome(key), await grpcOutcome(key)]).toEqual([denied, denied]);
    }
  });

  it('is allowed to those who may call it', async () => {
    const need = row.access;
    const subject = 'on' in need && need.on === 'owner' && namesOwner ? owner_id : 'on' in need && need.on;
    const allowed = ALLOWED['on' in need ? `${need.role} on ${subject}` : need.role];
    const expected = Array.from(allowed ?? '', (mark) => OUTCOMES[mark]);
    const over = async (call: typeof restOutcome | typeof grpcOutcome) =>
      Promise.all(CALLERS.map((caller) => call(created[caller].text)));
    expect({ rest: await over(restOutcome), grpc: await over(grpcOutcome) }).toEqual({
      rest: expected,
      grpc: expected,
    });
  });
});
