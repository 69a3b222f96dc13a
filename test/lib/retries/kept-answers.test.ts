import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANYONE, type Principal } from '../../../lib/access/principal.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { silentLog } from '../../../lib/log.ts';
import { type Interrupted, KEYED_OPERATIONS } from '../../../lib/retries/interrupted.ts';
import { KeptAnswers, type KeptAnswersOptions } from '../../../lib/retries/kept-answers.ts';

const DAY = 24 * 3_600_000;
const NOTHING = Object.fromEntries(
  KEYED_OPERATIONS.map((name) => [name, async () => undefined]),
) as never as Interrupted;

let directory: string;
let path: string;
let now: number;
/** Intents of the effects that were made. */
let effects: string[];
let answers: KeptAnswers;
let opened: KeptAnswers[];

const open = async (more: Partial<KeptAnswersOptions> = {}, interrupted: Partial<Interrupted> = {}) => {
  answers = await KeptAnswers.open({ path, log: silentLog, now: () => now, ...more });
  opened.push(answers);
  await answers.recover({ ...NOTHING, ...interrupted });
};
/** The server is killed: nothing more is written, and the next one opens what is there. */
const killAndOpen = (more: Partial<KeptAnswersOptions> = {}, interrupted: Partial<Interrupted> = {}) => {
  const left = existsSync(path) ? readFileSync(path) : undefined;
  path = join(directory, `${effects.length}-${Math.random()}`);
  if (left) writeFileSync(path, left);
  return open(more, interrupted);
};
const effect = async (request: object, intent: string) => {
  effects.push(intent);
  return { made: effects.length, ...request };
};

interface Call {
  key?: string;
  request?: object;
  operation?: string;
  principal?: Principal;
  effect?: (request: object, intent: string) => unknown;
  narrow?: () => object;
}
const call = (given: Call = {}) => {
  const { key = 'k', request = { name: 'a' }, operation = 'CreateCodebase', principal = ANYONE } = given;
  return answers.once({ key, operation, request, principal }, given.narrow ?? (() => request), given.effect ?? effect);
};

beforeEach(async () => {
  directory = await fs.mkdtemp(join(tmpdir(), 'paddock-retries-'));
  path = join(directory, 'answers');
  now = 1_700_000_000_000;
  effects = [];
  opened = [];
  await open();
});
afterEach(async () => {
  for (const each of opened) await each.close();
  await fs.rm(directory, { recursive: true });
});

describe('a repeated call', () => {
  it('gets the same answer without a second effect, also after a restart and a kill', async () => {
    const first = await call();
    expect(await call()).toEqual(first);
    await answers.close();
    await open();
    expect(await call()).toEqual(first);
    await killAndOpen();
    expect(await call()).toEqual(first);
    expect(effects).toHaveLength(1);
  });

  it('gets the answer of the call in progress', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => call()));
    expect(new Set(all.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(effects).toHaveLength(1);
  });

  it('is recognized whatever the order of its fields', async () => {
    const first = await call({ request: { name: 'a', labels: { x: '1', y: '2' } } });
    expect(await call({ request: { labels: { y: '2', x: '1' }, name: 'a' } })).toEqual(first);
  });

  it('needs no right that it has lost since: what it created may be gone', async () => {
    const first = await call();
    const narrow = () => {
      throw new ServiceError('NOT_FOUND', 'the codebase is gone');
    };
    expect(await call({ narrow })).toEqual(first);
    await expect(call({ narrow, key: 'other' })).rejects.toThrow('the codebase is gone');
  });

  it.each([
    ['another body', { request: { name: 'b' } }],
    ['another operation', { operation: 'CreateSandbox' }],
  ])('with %s is ABORTED, during the first call and after it', async (_, other) => {
    const first = call();
    const refusal = {
      code: 'ABORTED',
      message: expect.stringMatching(/^the idempotency-key was used for another req/),
    };
    await expect(call(other)).rejects.toMatchObject(refusal);
    await first;
    await expect(call(other)).rejects.toMatchObject(refusal);
    await killAndOpen();
    await expect(call(other)).rejects.toMatchObject(refusal);
    expect(effects).toHaveLength(1);
  });

  it('of another caller is a call of its own', async () => {
    await call();
    await call({ principal: { ...ANYONE, key_id: 'key00001' } });
    await call({ principal: { ...ANYONE, key_id: 'key00002' }, request: { name: 'b' } });
    expect(effects).toHaveLength(3);
  });

  it('is a new call after 24 hours, also without a cleanup, and after a restart', async () => {
    await call();
    now += DAY - 1;
    await call();
    expect(effects).toHaveLength(1);
    now += 1;
    await call();
    expect(effects).toHaveLength(2);
    now += DAY;
    await killAndOpen();
    await call({ request: { name: 'other' } });
    expect(effects).toHaveLength(3);
  });
});

describe('an error', () => {
  const fails = async () => {
    throw new ServiceError('UNAVAILABLE', 'no');
  };

  it('is given to the calls that wait, and not kept', async () => {
    const both = await Promise.allSettled([call({ effect: fails }), call()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await call({ request: { name: 'corrected' } });
    expect(effects).toHaveLength(1);
    await killAndOpen();
    await call({ request: { name: 'corrected' } });
    expect(effects).toHaveLength(1);
  });

  it('after a certain effect leaves the answer to the retry', async () => {
    const failing = call({
      operation: 'Commit',
      effect: async (_, intent) => {
        await answers.record(intent, { committed: true });
        throw new ServiceError('UNAVAILABLE', 'the disk failed while the commit was applied');
      },
    });
    await expect(failing).rejects.toThrow('the disk failed');
    expect(await call({ operation: 'Commit' })).toEqual({ committed: true });
    await killAndOpen();
    expect(await call({ operation: 'Commit' })).toEqual({ committed: true });
  });
});

describe('a request cut off by a kill', () => {
  /** Kills the server before the effect, or between the effect and the record of the answer. */
  const killed = async (operation: string, phase: 'before' | 'after', interrupted: Partial<Interrupted>) => {
    let reached = () => {};
    const there = new Promise<void>((resolve) => {
      reached = resolve;
    });
    void call({
      operation,
      effect: async (request, intent) => {
        if (phase === 'after') await effect(request, intent);
        reached();
        return new Promise(() => {});
      },
    });
    await there;
    await killAndOpen({}, interrupted);
  };

  it('is carried out by the retry if it had no effect', async () => {
    await killed('CreateCodebase', 'before', {});
    expect(await call()).toMatchObject({ made: 1 });
    expect(effects).toHaveLength(1);
  });

  it('is answered by what it left if it had its effect', async () => {
    const CreateCodebase = async ({ id }: { id: string }) => (effects.includes(id) ? { found: id } : undefined);
    await killed('CreateCodebase', 'after', { CreateCodebase });
    expect(await call()).toEqual({ found: effects[0] });
    await killAndOpen();
    expect(await call()).toEqual({ found: effects[0] });
    expect(effects).toHaveLength(1);
  });
});

it('the secret of a new key is in the first answer, and not in the file', async () => {
  const created = { key: { id: 'k' }, secret: 'pdk_secret', notice: '' };
  const make = { operation: 'CreateKey', effect: async () => created };
  expect(await Promise.all([call(make), call(make)])).toEqual([created, created]);
  expect(await call(make)).toEqual({
    key: { id: 'k' },
    secret: '',
    notice: expect.stringMatching(/first answer only/),
  });
  expect(readFileSync(path, 'utf8')).not.toContain('secret":"pdk');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

describe('bounds', () => {
  const of = (owner_id: string): Principal => ({ ...ANYONE, key_id: `key of ${owner_id}`, owner_id });

  it('an owner with its share of the kept answers is refused before the effect, another one is not', async () => {
    await open({ maxBytes: 8 * 1024 });
    let refused: unknown;
    for (let i = 0; i < 9 && refused === undefined; i++) {
      await call({ key: `k${i}`, principal: of('ann') }).catch((error) => {
        refused = error;
      });
    }
    expect(refused).toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringMatching(/of owner "ann" have/),
    });
    const made = effects.length;
    await call({ key: 'k0', principal: of('ann') });
    expect(effects).toHaveLength(made);
    await call({ principal: of('bob') });
    now += DAY;
    await answers.expire();
    await call({ key: 'later', principal: of('ann') });
    expect(effects).toHaveLength(made + 2);
  });

  it('an answer that is too large is not kept, and the retry is refused without a second effect', async () => {
    const large = { effect: async () => ({ text: 'x'.repeat(1024 * 1024) }) };
    expect(await call(large)).toMatchObject({ text: expect.stringMatching(/^x/) });
    const refusal = {
      code: 'ALREADY_EXISTS',
      message: expect.stringMatching(/was carried out; its answer of 1048587/),
    };
    await expect(call()).rejects.toMatchObject(refusal);
    await killAndOpen();
    await expect(call()).rejects.toMatchObject(refusal);
    expect(effects).toHaveLength(0);
  });

  it('a cleanup removes old answers from the file', async () => {
    for (let i = 0; i < 20; i++) await call({ key: `k${i}` });
    now += DAY;
    await call({ key: 'new' });
    const before = statSync(path).size;
    await answers.expire();
    expect(statSync(path).size).toBeLessThan(before / 5);
    await call({ key: 'new' });
    await call({ key: 'newer' });
    await killAndOpen();
    await call({ key: 'new' });
    await call({ key: 'newer' });
    expect(effects).toHaveLength(22);
  });

  it('calls without a key create no file', async () => {
    await answers.expire();
    await answers.close();
    expect(existsSync(path)).toBe(false);
  });
});

describe('the file', () => {
  it('without the end of its last line is that of a killed server', async () => {
    await call({ key: 'a' });
    appendFileSync(path, '0000000 answer rq_');
    await killAndOpen();
    await call({ key: 'a' });
    await call({ key: 'b' });
    await killAndOpen();
    await call({ key: 'b' });
    expect(effects).toHaveLength(2);
  });

  it('with a damaged line keeps the others, and is kept itself', async () => {
    for (const key of ['a', 'b', 'c']) await call({ key });
    const lines = readFileSync(path, 'utf8').split('\n');
    lines[3] = lines[3]!.replace('made', 'mode');
    writeFileSync(path, lines.join('\n'));
    const errors: string[] = [];
    const log = { ...silentLog, error: (message: string) => void errors.push(message) };
    await killAndOpen({ log }, { CreateCodebase: async () => ({ found: true }) });
    expect(errors).toEqual([expect.stringMatching(/^answers for idempotency keys are damaged/)]);
    expect(existsSync(`${path}.damaged`)).toBe(true);
    expect(await call({ key: 'a' })).toMatchObject({ made: 1 });
    expect(await call({ key: 'b' })).toEqual({ found: true });
    expect(await call({ key: 'c' })).toMatchObject({ made: 3 });
  });

  it.each(['appendFile', 'datasync', 'sync'])('on a disk that fails (%s) refuses before the effect', async (method) => {
    let failing = true;
    const fileSystem: KeptAnswersOptions['fileSystem'] = { ...fs, open: failingOpen(method, () => failing) };
    await answers.close();
    await killAndOpen({ fileSystem });
    if (method === 'datasync') {
      failing = false;
      await call({ key: 'first' });
      failing = true;
    }
    const made = effects.length;
    await expect(call()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/nothing was changed/),
    });
    expect(effects).toHaveLength(made);
    failing = false;
    const first = await call();
    await killAndOpen();
    expect(await call()).toEqual(first);
  });

  it('that fails after the effect has the retry store the answer, and makes no second effect', async () => {
    let failing = false;
    const fileSystem = { ...fs, open: failingOpen('datasync', () => failing) };
    await killAndOpen({ fileSystem });
    const make = {
      operation: 'CreateKey',
      effect: async (request: object, intent: string) => {
        await effect(request, intent);
        failing = true;
        return { key: {}, secret: 's', notice: '' };
      },
    };
    await call({ key: 'first' });
    await expect(call(make)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/was carried out, but its answer/),
    });
    failing = false;
    expect(await call(make)).toMatchObject({ secret: 's' });
    expect(await call(make)).toMatchObject({ secret: '' });
    await killAndOpen();
    expect(await call(make)).toMatchObject({ secret: '' });
    expect(effects).toHaveLength(2);
  });
});

function failingOpen(method: string, fails: () => boolean): typeof fs.open {
  return async (...args) => {
    const handle = await fs.open(...args);
    return new Proxy(handle, {
      get(target, name) {
        if (name === method && fails()) {
          return async () => {
            throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
          };
        }
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
}
