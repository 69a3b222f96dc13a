import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../handlers/index.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Services } from '../../lib/services.ts';
import { servicesThat } from '../handlers/permitted-requests.ts';
import { callGrpc, callRest, type Outcome } from './access-calls.ts';
import { grpcOver, type Rest, type Rpc as RpcServer, restOver } from './clients.ts';
import { exampleRequest } from './example-requests.ts';
import { fakeServices } from './fake-services.ts';
import { keyedAccess, keyFor } from './keyed-services.ts';

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
  const annsKey = { ...created.owner, record: { ...created.owner.record, id: IDS.key_id } };
  const { access, keys } = keyedAccess(
    [...Object.values(created), annsKey],
    { codebases: { cb_ann: 'ann' }, sandboxes: { sb_ann: 'ann', sb_ann2: 'ann' } },
    { sessionPlace: (id) => (id === IDS.session_id ? { sandbox: 'sb_ann', owner: 'ann' } : undefined) },
  );
  void keys.revoke(created.revoked.record.id);
  const everything = servicesThat(() => {
    throw new ServiceError('UNIMPLEMENTED', 'reached');
  });
  return fakeServices({ ...everything, access });
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
