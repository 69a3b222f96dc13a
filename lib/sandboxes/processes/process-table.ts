import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../errors.ts';
import { isHostFault, toServiceError } from '../../host-error.ts';
import { errorCode } from '../../linux/errno.ts';
import type { Log } from '../../log.ts';
import { notFound } from '../../not-found.ts';
import { LogBudget } from '../../output-log/budget.ts';
import { OutputLog } from '../../output-log/output-log.ts';
import { LiveProcess } from './live-process.ts';
import { LOST } from './process-end.ts';
import { isRecord, type ProcessRecord } from './process-record.ts';
import { readRecord, writeRecord } from './record-file.ts';

/** Names of directories: ids of processes, which never start with a dot. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Sandboxes of an earlier server whose processes are read at each removal of old ones. */
const READ_AT_ONCE = 16;

export interface ProcessLimits {
  /** Maximum number of processes of one sandbox, those that have ended included. */
  processes: number;
  /** Maximum bytes of output that one process keeps, and that all processes of one sandbox keep together. */
  outputBytes: number;
  sandboxOutputBytes: number;
  /** Milliseconds for which a process is kept after its end. */
  retention: number;
}

interface TableHost {
  /** Directory of the directories of sandboxes. */
  dir: string;
  limits: ProcessLimits;
  /** Bytes that the disk has for output; absent: it has no reserve. */
  diskRoom?: () => number;
  /** Unix time in milliseconds. */
  now: () => number;
  log: Log;
}

/**
 * The processes of one sandbox, by id in the order of their start. A process that is being started has an entry, so that
 * its id is in use.
 */
export class SandboxProcesses {
  readonly dir: string;
  readonly #budget: LogBudget;
  readonly #host: TableHost;
  readonly #processes = new Map<string, LiveProcess>();
  readonly #starting = new Map<string, Promise<LiveProcess>>();
  readonly #removals = new Map<string, Promise<void>>();
  #order = 0;

  constructor(dir: string, host: TableHost) {
    this.dir = dir;
    this.#host = host;
    this.#budget = new LogBudget(host.limits.sandboxOutputBytes, host.diskRoom);
  }

  /** Reads the processes of an earlier server: those that ran have ended. */
  async load(sandboxId: string): Promise<void> {
    const found: { record: ProcessRecord; log: OutputLog }[] = [];
    for (const id of await entriesOf(this.dir)) {
      const dir = join(this.dir, id);
      const one = await this.#recover(dir, id);
      if (one) found.push(one);
      else await rm(dir, { recursive: true, force: true });
    }
    found.sort((a, b) => a.record.order - b.record.order);
    const host = { sandboxId, stopped: () => false, now: this.#host.now, store: async () => true, onEnd: () => {} };
    for (const { record, log } of found) {
      const ended_at = Math.floor(this.#host.now() / 1000);
      const known = record.end ? record : { ...record, end: LOST, ended_at };
      this.#order = record.order;
      this.#processes.set(record.process_id, new LiveProcess(known, log, host));
      if (!record.end) await writeRecord(join(this.dir, record.process_id), known).catch(() => undefined);
    }
  }

  /**
   * undefined: it was not started completely, or is damaged, which is logged. A damaged process must not make the others
   * of the sandbox unusable. Rejects at a fault of the host, which may pass: the next request reads all of them again.
   */
  async #recover(dir: string, id: string): Promise<{ record: ProcessRecord; log: OutputLog } | undefined> {
    try {
      const record = await readRecord(dir);
      if (record === undefined) return undefined;
      if (!isRecord(record, id)) throw new Error('not the record of a process');
      const log = await OutputLog.recover(dir, this.logOptions);
      return log && { record, log };
    } catch (err) {
      if (isHostFault(err)) throw err;
      this.#host.log.warn('process is damaged and was removed', { dir, err });
      return undefined;
    }
  }

  /** The options of the log of each process. */
  get logOptions(): { maxBytes: number; budget: LogBudget } {
    return { maxBytes: this.#host.limits.outputBytes, budget: this.#budget };
  }

  get all(): LiveProcess[] {
    return [...this.#processes.values()];
  }

  /** NOT_FOUND if there is none. */
  get(id: string): LiveProcess {
    const process = this.#processes.get(id);
    if (!process || this.#removals.has(id)) throw notFound('process', id);
    return process;
  }

  /** The process with this id, also one that is being started, but none that is being removed. */
  find(id: string): LiveProcess | Promise<LiveProcess> | undefined {
    return this.#starting.get(id) ?? (this.#removals.has(id) ? undefined : this.#processes.get(id));
  }

  /** Resolves when every process that runs or is being started has ended. Never rejects. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#starting.values());
    for (const process of this.all) await process.ended;
    await Promise.allSettled(this.#removals.values());
  }

  /**
   * Adds the process that `start` starts. RESOURCE_EXHAUSTED at the maximum number of processes that run; those that have
   * ended make room, the oldest first.
   */
  async add(id: string, start: (order: number) => Promise<LiveProcess>): Promise<LiveProcess> {
    const { processes: most } = this.#host.limits;
    if (this.#processes.size + this.#starting.size >= most) {
      const oldest = this.all.find((each) => each.end !== undefined && !each.held && !this.#removals.has(each.id));
      if (!oldest) {
        throw new ServiceError(
          'RESOURCE_EXHAUSTED',
          `the sandbox has ${most} processes that run, which is the most (limits.processes)`,
        );
      }
      // It leaves at once; its files are removed meanwhile.
      void this.remove(oldest.id).catch(() => undefined);
      this.#processes.delete(oldest.id);
    }
    const order = ++this.#order;
    // The files of an earlier process of this id must be gone.
    const removal = this.#removals.get(id)?.catch(() => undefined);
    const starting = removal ? removal.then(() => start(order)) : start(order);
    this.#starting.set(id, starting);
    try {
      const process = await starting;
      this.#processes.set(id, process);
      return process;
    } finally {
      this.#starting.delete(id);
    }
  }

  /** Ends a process and everything that it started, and removes its output. NOT_FOUND if there is none. */
  remove(id: string): Promise<void> {
    const removal = this.#removals.get(id) ?? this.#remove(this.get(id));
    this.#removals.set(id, removal);
    return removal;
  }

  /** Removes those that ended long enough ago, and stores ends that could not be stored. Never rejects. */
  async expire(): Promise<void> {
    const before = (this.#host.now() - this.#host.limits.retention) / 1000;
    for (const process of this.all) {
      if (!this.#removals.has(process.id)) await process.storeAgain();
      if (process.endedAt === undefined || process.endedAt > before) continue;
      await this.remove(process.id).catch((err: unknown) => {
        this.#host.log.warn('process could not be removed, will retry', { process_id: process.id, err });
      });
    }
  }

  async #remove(process: LiveProcess): Promise<void> {
    const { id } = process;
    try {
      await process.kill();
      await process.log.remove();
      if (this.#processes.get(id) === process) this.#processes.delete(id);
    } finally {
      this.#removals.delete(id);
    }
  }
}

/** The processes of all sandboxes. Those of a sandbox are read from disk when they are first needed. */
export class ProcessTable {
  readonly #host: TableHost;
  readonly #sandboxes = new Map<string, Promise<SandboxProcesses>>();
  /** Sandboxes of an earlier server that were not looked at yet; undefined: not listed yet. */
  #unread: Set<string> | undefined;
  /** Sandboxes that are being read, and that nobody has asked for. */
  readonly #unasked = new Set<string>();

  constructor(host: TableHost) {
    this.#host = host;
  }

  of(sandboxId: string): Promise<SandboxProcesses> {
    this.#unasked.delete(sandboxId);
    return this.#sandboxes.get(sandboxId) ?? this.#add(sandboxId);
  }

  /** Removes all that is known of a sandbox whose processes have ended. Throws if files could not be removed. */
  async forget(sandboxId: string): Promise<void> {
    this.#unread?.delete(sandboxId);
    const known = await this.#sandboxes.get(sandboxId)?.catch(() => undefined);
    await known?.ended();
    for (const process of known?.all ?? []) await process.log.close();
    await rm(join(this.#host.dir, sandboxId), { recursive: true, force: true });
    this.#sandboxes.delete(sandboxId);
  }

  /**
   * Removes processes that ended long enough ago, and stores ends that could not be stored. Also reads a part of the sandboxes
   * whose processes were not needed since the start of the server, and keeps in memory those that have any. Never rejects.
   */
  async expire(): Promise<void> {
    await this.#readAhead();
    for (const known of this.#sandboxes.values()) await (await known.catch(() => undefined))?.expire();
  }

  /** Reads a few of the sandboxes that an earlier server left. What cannot be read now is tried again, after the others. */
  async #readAhead(): Promise<void> {
    this.#unread ??= await readdir(this.#host.dir).then(
      (ids) => new Set(ids),
      () => undefined,
    );
    const { size } = this.#unread ?? { size: 0 };
    for (let left = Math.min(size, READ_AT_ONCE); left > 0; left--) {
      // Looked up each time: some may have been destroyed meanwhile.
      const [id] = this.#unread ?? [];
      if (id === undefined) return;
      this.#unread?.delete(id);
      if (!this.#sandboxes.has(id)) await this.#readUnasked(id);
    }
  }

  async #readUnasked(id: string): Promise<void> {
    this.#unasked.add(id);
    const processes = await this.#add(id).catch(() => undefined);
    if (processes === undefined) this.#unread?.add(id);
    // Whoever has asked for it may be adding a process.
    if (this.#unasked.delete(id) && processes?.all.length === 0) this.#sandboxes.delete(id);
  }

  /** Waits until the ends of all processes, whose sandboxes were stopped, are stored. Never rejects. */
  async close(): Promise<void> {
    for (const known of this.#sandboxes.values()) {
      const processes = await known.catch(() => undefined);
      await processes?.ended();
      for (const { log } of processes?.all ?? []) await log.close();
    }
  }

  #add(sandboxId: string): Promise<SandboxProcesses> {
    const processes = this.#load(sandboxId);
    this.#sandboxes.set(sandboxId, processes);
    return processes;
  }

  async #load(sandboxId: string): Promise<SandboxProcesses> {
    try {
      const processes = new SandboxProcesses(join(this.#host.dir, sandboxId), this.#host);
      await processes.load(sandboxId);
      return processes;
    } catch (error) {
      this.#sandboxes.delete(sandboxId);
      throw toServiceError(error);
    }
  }
}

/** Ids of the processes of an earlier server. */
async function entriesOf(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).filter((name) => ID.test(name));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
