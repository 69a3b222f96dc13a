import { expect, it } from 'vitest';
import type { SandboxStatus } from '../../../lib/contract/messages.ts';
import type { SandboxRecord } from '../../../lib/metadata/metadata.ts';
import { listSandboxes } from '../../../lib/sandboxes/list.ts';
import { LiveSandbox } from '../../../lib/sandboxes/sandbox.ts';
import { SandboxSet } from '../../../lib/sandboxes/sandbox-set.ts';
import type { SandboxFilter } from '../../../lib/services.ts';

/** Pseudorandom numbers below `n`, the same in each run. */
function numbers(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % n;
  };
}

const records = { put: async () => undefined };

function recordOf(id: string, next: (n: number) => number): SandboxRecord {
  return {
    id,
    codebase_id: `cb_${next(4)}`,
    owner_id: ['ann', 'bob', ''][next(3)]!,
    labels: next(2) === 0 ? {} : { a: String(next(3)), 'a b': 'c' },
    status: 'SANDBOX_STOPPED',
    status_reason: '',
    runtime: 'RUNTIME_BWRAP',
    image: next(5) === 0 ? 'im_1' : '',
    idle_timeout: next(2) * 10,
    on_idle: ['stop', 'destroy'][next(2)],
    expires_at: next(3) === 0 ? 0 : next(100),
    destroy_at: 0,
  } as unknown as SandboxRecord;
}

it('answers from its indexes what a look at every sandbox would, after any changes', async () => {
  const next = numbers(3);
  const set = new SandboxSet();
  const ids = (all: Iterable<LiveSandbox>) => [...all].map(({ id }) => id).sort();
  const those = (matches: (sandbox: LiveSandbox) => boolean) => ids([...set.values()].filter(matches));
  for (let step = 0; step < 2000; step++) {
    const id = `sb_${String(next(60)).padStart(2, '0')}`;
    const known = set.get(id);
    if (known === undefined) set.set(id, new LiveSandbox(recordOf(id, next)));
    else if (next(4) === 0) set.delete(id);
    else if (next(2) === 0) known.transition(known.status === 'SANDBOX_STOPPED' ? 'start' : 'stop');
    else {
      const kept = next(2) === 0 ? { kept: true, destroy_at: next(100) } : { kept: undefined, expires_at: next(100) };
      await known.update({ labels: { a: String(next(3)) }, ...kept }, records);
    }
    if (step % 20 > 0) continue;
    const status = (['SANDBOX_STOPPED', 'SANDBOX_PENDING', undefined] as (SandboxStatus | undefined)[])[next(3)];
    const filter: SandboxFilter = {
      codebase_id: next(2) === 0 ? '' : `cb_${next(5)}`,
      owner_id: next(2) === 0 ? '' : 'ann',
      ...(status && { status }),
      labels: next(2) === 0 ? {} : { a: String(next(3)) },
    };
    const found: string[] = [];
    for (let page_token = ''; ; ) {
      const page = listSandboxes({ ...filter, page_size: 3, page_token }, { sandboxes: set });
      found.push(...page.sandboxes.map((each) => each.id));
      page_token = page.next_page_token;
      if (page_token === '') break;
    }
    const expected = those(
      ({ record, status: present }) =>
        (filter.codebase_id === '' || record.codebase_id === filter.codebase_id) &&
        (filter.owner_id === '' || record.owner_id === filter.owner_id) &&
        (status === undefined || present === status) &&
        (filter.labels?.a === undefined || record.labels.a === filter.labels.a),
    );
    expect(found).toEqual(expected.reverse());
    expect(ids(set.onCodebase('cb_1'))).toEqual(those(({ record }) => record.codebase_id === 'cb_1'));
    expect(ids(set.withImage('im_1'))).toEqual(those(({ record }) => record.image === 'im_1'));
    const due = ({ record: { kept, destroy_at, expires_at } }: LiveSandbox) => (kept ? destroy_at : expires_at);
    expect(ids(set.dueBy(50))).toEqual(those((each) => due(each) !== 0 && due(each) <= 50));
    expect(ids(set.kept)).toEqual(those(({ record }) => record.kept === true));
    const idles = ({ record, status: present }: LiveSandbox) =>
      record.idle_timeout > 0 && (present !== 'SANDBOX_STOPPED' || record.on_idle === 'destroy');
    expect(ids(set.idling)).toEqual(those(idles));
  }
});
