import { beforeEach, describe, expect, it } from 'vitest';
import { CallAdmission } from '../../../lib/limits/admission.ts';
import { type CallLimits, type Count, NO_LIMITS } from '../../../lib/limits/limits.ts';
import { Refusal } from '../../../lib/limits/refusal.ts';

let now: number;
let perKey: Partial<CallLimits>;
let perOwner: Partial<CallLimits>;
let admission: CallAdmission;
beforeEach(() => {
  now = 0;
  perKey = {};
  perOwner = {};
});

function open(): void {
  admission = new CallAdmission({
    perKey: { ...NO_LIMITS, ...perKey },
    ofOwner: () => ({ ...NO_LIMITS, ...perOwner }),
    placeOf: (_owner, limit) => `limits.per_owner.${limit}`,
    now: () => now,
  });
}

const begin = (key: string, owner: string, ...counts: Count[]) => admission.begin(key, owner, counts);

function refusal(key: string, owner: string, ...counts: Count[]): Refusal {
  try {
    begin(key, owner, ...counts);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('the call was admitted');
}

describe('requests', () => {
  it('of a key are limited, and of no other key', () => {
    perKey = { requests_per_second: 2, request_burst: 3 };
    open();
    const left = [1, 2, 3].map(() => begin('k1', 'ann').rate?.remaining);
    expect(left).toEqual([2, 1, 0]);
    expect(refusal('k1', 'ann')).toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message:
        'the key may make at most 2 requests per second, and at most 3 at once (limits.per_key.requests_per_second)',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.500s' }],
      retryAfterMs: 500,
      rate: { limit: 3, remaining: 0, resetMs: 1500 },
    });
    begin('k2', 'ann');
    now = 500;
    begin('k1', 'ann');
  });

  it('of all keys of an owner are limited together, and a refused one takes nothing', () => {
    perKey = { requests_per_second: 10 };
    perOwner = { requests_per_second: 2 };
    open();
    begin('k1', 'ann');
    begin('k2', 'ann');
    expect(refusal('k1', 'ann').message).toBe(
      'owner "ann" may make at most 2 requests per second, and at most 2 at once (limits.per_owner.requests_per_second)',
    );
    for (let i = 0; i < 20; i++) refusal('k1', 'ann');
    begin('k3', 'bob');
    now = 500;
    expect(begin('k1', 'ann').rate).toEqual({ limit: 2, remaining: 0, resetMs: 1000 });
  });
});

describe('commands and streams', () => {
  it('are limited at the same time, until they are released', () => {
    perKey = { commands: 2 };
    perOwner = { commands: 3, streams: 1 };
    open();
    const first = begin('k1', 'ann', 'command', 'stream');
    begin('k1', 'ann', 'command');
    expect(refusal('k1', 'ann', 'command')).toMatchObject({
      message: 'the key may run at most 2 commands at the same time (limits.per_key.commands)',
      retryAfterMs: 1000,
    });
    expect(refusal('k2', 'ann', 'stream').message).toBe(
      'owner "ann" may have at most 1 streams, uploads and downloads at the same time (limits.per_owner.streams)',
    );
    begin('k2', 'ann', 'command');
    expect(refusal('k2', 'ann', 'command').message).toContain('(limits.per_owner.commands)');
    begin('k1', 'ann');
    first.release();
    begin('k1', 'ann', 'command', 'stream');
  });
});

it('creates are limited per minute', () => {
  perOwner = { creates_per_minute: 2 };
  open();
  begin('k1', 'ann', 'create').release();
  begin('k1', 'ann', 'create').release();
  expect(refusal('k1', 'ann', 'create')).toMatchObject({
    message:
      'owner "ann" may create at most 2 sandboxes, codebases, checkpoints and keys per minute (limits.per_owner.creates_per_minute)',
    retryAfterMs: 30_000,
  });
  begin('k1', 'ann');
  now = 30_000;
  begin('k1', 'ann', 'create');
});

it('the answers of many refusals are held back, those of a few are not', () => {
  perKey = { requests_per_second: 1 };
  open();
  begin('k1', 'ann');
  const holds = Array.from({ length: 30 }, () => refusal('k1', 'ann').holdMs);
  expect(holds.slice(0, 20)).toEqual(Array(20).fill(0));
  const later = holds.slice(20);
  expect(Math.min(...later)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...later)).toBeLessThan(1500);
  // Spread, so that they do not come back together.
  expect(new Set(later.map((ms) => Math.floor(ms / 100))).size).toBeGreaterThanOrEqual(8);
  begin('k2', 'bob');
  expect(refusal('k2', 'bob').holdMs).toBe(0);
});

it('idle keys and owners are forgotten, busy ones are not', () => {
  perOwner = { commands: 1 };
  open();
  const busy = begin('busy', 'busy', 'command');
  for (let i = 0; i < 3000; i++) {
    now += 100;
    begin(`k${i}`, `o${i}`).release();
  }
  expect(admission.size).toBeLessThan(2 * 1300);
  expect(refusal('busy', 'busy', 'command').code).toBe('RESOURCE_EXHAUSTED');
  busy.release();
  begin('busy', 'busy', 'command');
});

it('a command that goes on after its call is counted until its end, once', () => {
  perOwner = { commands: 1 };
  open();
  const call = begin('k1', 'ann', 'command', 'stream');
  const end = call.keepCommand();
  call.release();
  expect(refusal('k1', 'ann', 'command').message).toContain('at most 1 commands');
  end();
  end();
  const late = begin('k1', 'ann', 'command');
  late.release();
  // The call ended before the command was known to go on.
  late.keepCommand()();
  begin('k1', 'ann', 'command');
  refusal('k1', 'ann', 'command');
});

it('a connection to a program in a sandbox is a stream, and not a request', () => {
  perKey = { requests_per_second: 1, request_burst: 1, streams: 2 };
  open();
  const first = begin('k1', 'ann', 'connection');
  begin('k1', 'ann', 'connection');
  expect(refusal('k1', 'ann', 'connection').message).toContain('at most 2 streams');
  first.release();
  begin('k1', 'ann', 'connection');
  begin('k2', 'ann');
  expect(refusal('k2', 'ann').message).toContain('requests per second');
});
