import { join } from 'node:path';
import { Unzstd } from '../../../../lib/archive/unzstd.ts';
import type { ByteString } from '../../../../lib/byte-string.ts';
import { callersThread } from '../../../../lib/codebases/archive/callers-thread.ts';
import { StoredCodebases } from '../../../../lib/codebases/codebases.ts';
import { CommitFiles } from '../../../../lib/codebases/commits/commit-files.ts';
import type { Step } from '../../../../lib/codebases/commits/commit-steps.ts';
import { Descriptors } from '../../../../lib/descriptors.ts';
import { decodeError, encodeError } from '../../../../lib/fuse/connection/control.ts';
import type { Notifier } from '../../../../lib/fuse/filesystem.ts';
import { removeTree } from '../../../../lib/host-tree/remove-tree.ts';
import { unlimitedOwners } from '../../../../lib/limits/stored-limits.ts';
import { silentLog } from '../../../../lib/log.ts';
import { openMetadata } from '../../../../lib/metadata/store.ts';
import { SandboxContext } from '../../../../lib/sandboxes/context.ts';
import { makeLayout } from '../../../../lib/sandboxes/host/layout.ts';
import { UidSlots } from '../../../../lib/sandboxes/host/uid-slots.ts';
import type { Platform } from '../../../../lib/sandboxes/lifecycle/bring-up.ts';
import { createSandboxes, type SandboxKeeper } from '../../../../lib/sandboxes/sandboxes.ts';
import { TextTools } from '../../../../lib/text-tools/text-tools.ts';
import { inSameThread } from '../../../../lib/threads/same-thread.ts';
import type { SharedThreads } from '../../../../lib/threads/thread-pool.ts';
import { callsThrough, TRAITS } from '../../../../lib/workspaces/calls.ts';
import { WorkspaceFileSystem } from '../../../../lib/workspaces/workspace-file-system.ts';
import type { Adding, Unpreserved } from '../../../../lib/workspaces/workspaces.ts';
import { FakeRuntime, NO_LIMITS } from '../fixture.ts';
import { type Hold, inBackground, inRun, Run } from './disk.ts';

/** Far from users of the host. */
const UIDS = { start: 700_000, size: 1000 };

const silent: Notifier = { invalInode() {}, invalEntry() {}, dropEntry() {}, invalAttributesNow() {} };

/**
 * The server without its ports, its device and its processes: everything between the handlers and the kernel's requests
 * is the real code, in one thread.
 */
export class Server {
  readonly run: Run;
  readonly descriptors: Descriptors;
  readonly fs: WorkspaceFileSystem;
  readonly codebases: StoredCodebases;
  readonly sandboxes: SandboxKeeper;
  readonly context: SandboxContext;
  #reclaims = 0;

  private constructor(parts: Pick<Server, 'descriptors' | 'run' | 'fs' | 'codebases' | 'sandboxes' | 'context'>) {
    this.descriptors = parts.descriptors;
    this.run = parts.run;
    this.fs = parts.fs;
    this.codebases = parts.codebases;
    this.sandboxes = parts.sandboxes;
    this.context = parts.context;
  }

  /** On the state in `home`; what ran when the last server was killed runs again on return. */
  static start(home: string, hold: () => Hold | undefined): Promise<Server> {
    const run = new Run();
    return inRun(run, async () => {
      const fs = new WorkspaceFileSystem(silent);
      const mount = mountOf(fs, run);
      const metadata = await openMetadata(join(home, 'metadata.json'), silentLog);
      const threads = callersThread();
      const codebases = await StoredCodebases.open({
        path: join(home, 'codebases'),
        records: metadata.codebases,
        archives: {
          ...threads,
          commits: oneByOne(run),
          syncDisk: (disk) => run.pass().then(() => threads.syncDisk(disk)),
        },
        log: silentLog,
      });
      const descriptors = new Descriptors();
      const runtime = new FakeRuntime();
      const context: SandboxContext = new SandboxContext({
        metadata,
        platform: {
          layout: makeLayout(join(home, 'mounts'), join(home, 'runtime')),
          mount,
          descriptors,
          graces: new AbortController(),
          runtime: async () => runtime,
          basePath: (id) => codebases.filesPath(id),
          apply: (id, plan) => codebases.apply(id, plan),
          finishCommit: (id) => codebases.finishCommit(id),
          removeTree,
          unzstd: inSameThread(() => new Unzstd()),
          diffs: inSameThread(() => new TextTools()),
          reserve: 0,
          maxDeltaBytes: 0,
          maxDeltaFiles: 0,
          maxIndexBytes: 0,
          log: silentLog,
        },
        settings: {
          runtime: 'RUNTIME_BWRAP',
          defaultImage: '',
          mountablePaths: ['/opt'],
          protectedPaths: ['/opt/state/db.json'],
          defaultExpiration: 0,
          expiry: { onExpire: 'destroy', retention: 0, maxKept: 0 },
          defaultTimeout: 30_000,
          maxTimeout: 30_000,
          owners: unlimitedOwners(0),
          defaultResources: NO_LIMITS,
          sessions: 4,
          network: { enabled: true, allowMax: undefined, isDockers: false },
          processes: { processes: 4, outputBytes: 65_536, sandboxOutputBytes: 262_144, retention: 3_600_000 },
        },
        uids: new UidSlots(UIDS),
        clock: { now: () => Date.now(), monotonic: () => performance.now() },
        log: silentLog,
      });
      const sandboxes = createSandboxes(context);
      codebases.connect({
        usedBy: (id) => sandboxes.usersOf(id),
        watcher: {
          baseChanging: async (id, paths, change) => {
            await sandboxes.revertUnchanged(id, paths, change);
            sandboxes.unpreserved(id, await mount.baseChanging(id, paths, change.commit, change.removed));
          },
          baseChanged: async (id, paths) => mount.baseChanged(id, paths),
          baseRemoving: (id, paths) => sandboxes.preserveRemoved(id, paths),
        },
        rebase: (commit, stage, resumed) => sandboxes.rebase(commit, stage, resumed),
        certain: async () => undefined,
      });
      const resume = await sandboxes.recover();
      await codebases.finishCommits();
      const server = new Server({ run, descriptors, fs, codebases, sandboxes, context });
      const reclaim = context.layers.reclaim.bind(context.layers);
      context.layers.reclaim = (known) => {
        server.#reclaims++;
        inBackground(run, hold, () => reclaim(known));
      };
      await resume();
      return server;
    });
  }

  /** A call of a client. */
  call<T>(task: () => Promise<T>): Promise<T> {
    return inRun(this.run, task);
  }

  /** Resolves when layers that nobody needs are gone; nothing may hold that. */
  async settle(): Promise<void> {
    if (this.#reclaims === 0) return;
    await this.call(async () => {
      await this.context.layers.idle();
      // Waiting for it keeps it from going on with what it found to be left.
      this.context.reclaimLayers();
      await this.context.layers.idle();
    });
    this.#reclaims = 0;
  }

  async kill(): Promise<void> {
    this.run.kill();
    this.descriptors.close();
    await this.run.closeFiles();
  }
}

type Mount = Platform['mount'] & {
  baseChanging(
    codebaseId: string,
    paths: readonly ByteString[],
    commit?: Adding | undefined,
    removed?: readonly ByteString[],
  ): Promise<Unpreserved[]>;
  baseChanged(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
};

/** As `mountWorkspaces` has them, without the worker: arguments and answers are copied as between threads. */
function mountOf(fs: WorkspaceFileSystem, run: Run): Mount {
  const call = async <T>(task: () => T): Promise<T> => {
    await run.pass();
    try {
      const answer = task();
      return answer === undefined ? answer : structuredClone(answer);
    } catch (error) {
      // As it crosses threads.
      throw decodeError(encodeError(fs.toError(error)));
    } finally {
      await run.pass();
    }
  };
  const attached = new Set<string>();
  const calls = callsThrough((operation, args) =>
    call(() => {
      const answer = fs.control(operation, structuredClone(args)) as never;
      const trimmed = TRAITS[operation].trims?.(...args);
      if (trimmed !== undefined && attached.has(trimmed)) while (fs.trim(trimmed));
      return answer;
    }),
  );
  return {
    ...calls,
    attach: (spec) =>
      call(() => {
        fs.attach(structuredClone(spec));
        attached.add(spec.id);
        return spec.id;
      }),
    detach: (id) =>
      call(() => {
        attached.delete(id);
        fs.detach(id);
      }),
    holds: (id) => attached.has(id),
    check: async () => {},
    flush: async () => {},
  };
}

/** The threads of commits; the server can be killed before each call, and before each of the steps that one makes. */
function oneByOne(run: Run): SharedThreads<CommitFiles> {
  const threads = inSameThread(() => new CommitFiles());
  const take = async () => {
    const { remote, release } = await threads.take();
    const gated = {
      get:
        (_: object, method: keyof CommitFiles) =>
        async (...args: unknown[]) => {
          const calls = method === 'apply' ? (args[2] as Step[]).map((step) => [args[0], args[1], [step]]) : [args];
          const answers = [];
          for (const each of calls) {
            await run.pass();
            answers.push(await (remote[method] as (...args: unknown[]) => Promise<unknown>)(...each));
          }
          return method === 'apply' ? answers.flat() : answers[0];
        },
    };
    return { remote: new Proxy(remote, gated as ProxyHandler<typeof remote>), release };
  };
  return { of: () => ({ take }) };
}
