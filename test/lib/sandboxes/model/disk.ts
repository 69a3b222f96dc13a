import { AsyncLocalStorage } from 'node:async_hooks';
import type * as childProcess from 'node:child_process';
import type * as promises from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

/** One run of the server, from its start to kill -9. Everything that it starts runs in its scope. */
export class Run {
  readonly ended: Promise<void>;
  #end!: () => void;
  #killed = false;
  /** Calls until the kill; undefined: none is due. */
  #callsLeft: number | undefined;
  readonly #handles = new Set<FileHandle>();

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get killed(): boolean {
    return this.#killed;
  }

  /** The server ends at the `calls`th call from now on that leaves its main thread. */
  killAfter(calls: number | undefined): void {
    this.#callsLeft = calls;
  }

  kill(): void {
    this.#killed = true;
    this.#end();
  }

  /** A call to the disk, or to the request worker. Of a killed server, none is made and none answers. */
  async pass(): Promise<void> {
    if (this.#callsLeft !== undefined && this.#callsLeft-- <= 0) this.kill();
    if (this.#killed) await new Promise(() => {});
  }

  /** A file that was opened; of a killed server, it is closed and never answered. */
  async keep(handle: FileHandle): Promise<void> {
    this.#handles.add(handle);
    if (!this.#killed) return;
    await this.closeFiles();
    await new Promise(() => {});
  }

  /** What the kernel does for a killed process. */
  async closeFiles(): Promise<void> {
    const handles = [...this.#handles];
    this.#handles.clear();
    for (const handle of handles) if (handle.fd !== -1) await handle.close().catch(() => undefined);
  }
}

/** Holds the calls of one background task before its nth. */
export class Hold {
  #left: number;
  #release!: () => void;
  readonly #released: Promise<void>;

  constructor(calls: number) {
    this.#left = calls;
    this.#released = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#release();
  }

  async pass(): Promise<void> {
    if (this.#left-- <= 0) await this.#released;
  }
}

interface Scope {
  run: Run;
  /** Only of what runs in the background and is held. */
  hold: (() => Hold | undefined) | undefined;
}

const scopes = new AsyncLocalStorage<Scope>();

export function inRun<T>(run: Run, task: () => T): T {
  return scopes.run({ run, hold: undefined }, task);
}

/** `hold` is asked at each call that the task makes. */
export function inBackground<T>(run: Run, hold: () => Hold | undefined, task: () => T): T {
  return scopes.run({ run, hold }, task);
}

async function pass(): Promise<void> {
  const scope = scopes.getStore();
  await scope?.hold?.()?.pass();
  await scope?.run.pass();
}

/** node:fs/promises whose calls can be held, and end with the server that made them. */
export function gatedPromises(actual: typeof promises): typeof promises {
  const gated: Record<string, unknown> = { ...actual };
  for (const [name, member] of Object.entries(actual)) {
    if (typeof member !== 'function') continue;
    gated[name] = async (...args: unknown[]) => {
      await pass();
      const result: unknown = await Reflect.apply(member, actual, args);
      if (name === 'open') await scopes.getStore()?.run.keep(result as FileHandle);
      return result;
    };
  }
  return { ...gated, default: gated } as unknown as typeof promises;
}

/** node:child_process where sync(1) does nothing: a killed server loses nothing that it had written. */
export function withoutSync(actual: typeof childProcess): typeof childProcess {
  const execFile = (...args: Parameters<typeof childProcess.execFile>) => actual.execFile(...args);
  Object.assign(execFile, {
    [promisify.custom]: async (command: string, ...rest: never[]) => {
      await pass();
      if (command === 'sync') return { stdout: '', stderr: '' };
      return Reflect.apply(promisify(actual.execFile), undefined, [command, ...rest]);
    },
  });
  const spawnSync = (command: string, ...rest: never[]) =>
    command === 'sync' ? { status: 0 } : Reflect.apply(actual.spawnSync, undefined, [command, ...rest]);
  return { ...actual, execFile, spawnSync } as typeof childProcess;
}
