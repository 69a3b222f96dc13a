import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CODES, type Code, ServiceError } from '../../../lib/errors.ts';
import { toServiceError } from '../../../lib/host-error.ts';
import { ERRNOS, type ErrnoName, hostCalls } from '../runtime/faults/host-calls.ts';
import { createRequest, forkOf, NO_LIMITS } from './fixture.ts';
import { bytes } from './model/bytes.ts';
import { Server } from './model/server.ts';

vi.mock('node:fs', async (original) => {
  const { hostCalls } = await import('../runtime/faults/host-calls.ts');
  return hostCalls.wrapWithWorker(await original<typeof import('node:fs')>());
});

vi.mock('node:fs/promises', async (original) => {
  const { hostCalls } = await import('../runtime/faults/host-calls.ts');
  return hostCalls.wrapPromises(await original<typeof import('node:fs/promises')>());
});

vi.mock('node:child_process', async (original) => {
  const { hostCalls } = await import('../runtime/faults/host-calls.ts');
  return hostCalls.wrapProcesses(await original<typeof import('node:child_process')>());
});

let home: string;
let server: Server;
let codebase: string;
let beside: string;

beforeAll(async () => {
  home = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'paddock-faults-'));
  server = await Server.start(home, () => undefined);
  codebase = (await server.codebases.create({ name: 'faults', owner_id: 'ann' })).id;
  await server.codebases.upload(codebase, 'kept', bytes('base'));
  beside = await create();
});
afterAll(async () => {
  await server.kill();
  rmSync(home, { recursive: true });
});

/** An unhandled error in any of this fails the run, as it would end the server. */
const unhandled: unknown[] = [];
const collect = (error: unknown) => unhandled.push(error);
beforeAll(() => void process.on('unhandledRejection', collect).on('uncaughtException', collect));
afterAll(() => {
  process.off('unhandledRejection', collect).off('uncaughtException', collect);
  expect(unhandled).toEqual([]);
});

async function create(): Promise<string> {
  const everything = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }] as const;
  const { id } = await server.sandboxes.create(
    createRequest({ codebase_id: codebase, permissions: [...everything], resources: NO_LIMITS }),
  );
  return id;
}

const write = (id: string, path: string, content: string) =>
  server.sandboxes.writeFile({ sandbox_id: id, as: 'owner', path, mode: 0 }, bytes(content));

async function read(id: string, path: string): Promise<string> {
  const file = await server.sandboxes.readFile({ sandbox_id: id, as: 'owner', path });
  try {
    return await text(file.read());
  } finally {
    await file.close();
  }
}

const LARGE = 'large '.repeat(20_000);

/** With changes of each kind. */
async function changed(): Promise<string> {
  const id = await create();
  await server.sandboxes.makeDirectory({ sandbox_id: id, as: 'owner', path: 'd', mode: 0, parents: true });
  await write(id, 'd/small', id);
  await write(id, 'large', LARGE + id);
  return id;
}

async function checkpointed(): Promise<string> {
  const id = await changed();
  await server.sandboxes.createCheckpoint(id, 'one');
  await write(id, 'd/small', 'later');
  return id;
}

const commit = (id: string) =>
  server.sandboxes.commit({ sandbox_id: id, paths: [], on_conflict: 'ours', dry_run: false });

const codeOf = (grpc: number) => (Object.keys(CODES) as Code[]).find((code) => CODES[code].grpc === grpc) ?? 'UNKNOWN';

async function fork(id: string): Promise<void> {
  const [made] = await server.sandboxes.fork(forkOf(id));
  if (made?.error) throw new ServiceError(codeOf(made.error.code), made.error.message);
}

interface Case {
  /** The sandbox that `run` is given; '': none. */
  make: () => Promise<string>;
  run: (id: string) => Promise<unknown>;
  /** After the operation succeeded, or was repeated. */
  holds?: (id: string) => Promise<void>;
}

/** Also as they are on the disk. */
const holdsChanges = async (id: string) => {
  await server.sandboxes.stop(id);
  await server.sandboxes.start(id);
  expect(await read(id, 'd/small')).toBe(id);
  expect(await read(id, 'large')).toBe(LARGE + id);
};

const CASES: Record<string, Case> = {
  'a create': { make: async () => '', run: create },
  'a stop': { make: changed, run: (id) => server.sandboxes.stop(id), holds: holdsChanges },
  'a start': {
    make: async () => {
      const id = await changed();
      await server.sandboxes.stop(id);
      return id;
    },
    run: (id) => server.sandboxes.start(id),
    holds: holdsChanges,
  },
  'a write': { make: changed, run: (id) => write(id, 'large', `${LARGE}new`) },
  'a checkpoint': { make: changed, run: (id) => server.sandboxes.createCheckpoint(id, 'one'), holds: holdsChanges },
  'a rollback': { make: checkpointed, run: (id) => server.sandboxes.rollback(id, 'one'), holds: holdsChanges },
  'a fork': { make: changed, run: fork, holds: holdsChanges },
  'a commit': {
    make: changed,
    run: commit,
    holds: async (id) => {
      await holdsChanges(id);
      expect(await read(beside, 'd/small')).toBe(id);
      expect(await read(beside, 'large')).toBe(LARGE + id);
    },
  },
  'a discard': {
    make: changed,
    run: (id) => server.sandboxes.discard(id, []),
    holds: async (id) =>
      expect(await server.sandboxes.listChanges(id, { page_size: 9, page_token: '' })).toMatchObject({ changes: [] }),
  },
  'a destroy': { make: checkpointed, run: (id) => server.sandboxes.destroy(id, true) },
};

/** What a caller is told of a fault of the host. */
const TOLD = /^(RESOURCE_EXHAUSTED|UNAVAILABLE)$/;

const left = () => {
  const { layout } = server.context.platform;
  const all = [layout.deltas, layout.layers, layout.run].flatMap((path) => readdirSync(path));
  return all.filter((name) => !name.includes(beside));
};

async function removeAll(): Promise<void> {
  for (const { id } of server.sandboxes.list({ codebase_id: codebase, page_size: 100, page_token: '' }).sandboxes) {
    if (id !== beside) await server.sandboxes.destroy(id, true);
  }
  await server.sandboxes.expire();
  await server.settle();
}

/** Two of them in turn, to bound the time; with PADDOCK_FAULTS=full each of them at each place. */
const errnosAt = (index: number): readonly ErrnoName[] =>
  process.env.PADDOCK_FAULTS === 'full'
    ? ERRNOS
    : [index, index + 3].map((turn) => ERRNOS[turn % ERRNOS.length] as ErrnoName);

describe('a host call that fails', () => {
  it.each(Object.entries(CASES))(
    'in %s fails only that operation, which can be repeated',
    async (_, { make, run, holds }) => {
      const sound = await make();
      hostCalls.record();
      await run(sound);
      const calls = hostCalls.recorded();
      await removeAll();
      expect(calls.length).toBeGreaterThan(2);
      for (const [index, nth] of calls.entries()) {
        for (const errno of errnosAt(index)) {
          const id = await make();
          hostCalls.arm(nth, errno);
          const error = await run(id).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          const at = `${nth}: ${hostCalls.disarm()}`;
          if (error !== undefined) {
            const told = toServiceError(error);
            expect(told.code, `${at} ${(told.cause as Error | undefined)?.stack ?? told.stack}`).toMatch(TOLD);
            if (id === '' || server.context.sandboxes.has(id)) await run(id);
          }
          expect(await read(beside, 'kept'), at).toBe('base');
          // The errnos take turns at what takes longer.
          if (errno !== ERRNOS[index % ERRNOS.length]) continue;
          await write(beside, 'own', at);
          await holds?.(id);
        }
        await removeAll();
        expect(left(), String(nth)).toEqual([]);
        expect(server.context.leftovers.size, String(nth)).toBe(0);
      }
    },
  );
});
