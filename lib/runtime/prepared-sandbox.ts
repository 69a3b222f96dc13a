import { randomBytes } from 'node:crypto';
import type { ReadySandbox, RunningSandbox, SandboxSpec } from './runtime.ts';

type Known = Pick<SandboxSpec, 'uid' | 'workspace' | 'home' | 'image' | 'resources'>;

const KNOWN = ['uid', 'workspace', 'home', 'image'] as const;

/** A sandbox of a runtime until it is taken. */
export interface Prepared extends RunningSandbox {
  /** Host pid of its first process; undefined once that has ended. */
  readonly init: number | undefined;
  /** Resolves when nothing of its start is left to do; rejects if it failed. */
  settled(): Promise<void>;
  /** Host pids of its processes, as long as no command has run; undefined if they are not known. May throw. */
  basePids(): number[] | undefined;
  /** Once: gives it the id and the limits. Throws or rejects; then it must be stopped. */
  assign(spec: SandboxSpec): void | Promise<void>;
}

/** See `Runtime.prepare`. `launch`: starts one with the id, whose `assign` is to follow. */
export async function prepareSandbox(
  spec: Known,
  launch: (spec: SandboxSpec & { readyOnly: true }) => Promise<Prepared>,
): Promise<ReadySandbox> {
  const id = `ready-${randomBytes(8).toString('hex')}`;
  const sandbox = await launch({ ...spec, id, runDir: '', readyOnly: true });
  try {
    await sandbox.settled();
    return new PreparedSandbox(sandbox, spec);
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}

/** See `ReadySandbox`. */
class PreparedSandbox implements ReadySandbox {
  readonly #sandbox: Prepared;
  readonly #spec: Known;
  /** Its processes when it was prepared. */
  readonly #pids: ReadonlySet<number>;
  #gone = false;

  constructor(sandbox: Prepared, spec: Known) {
    this.#sandbox = sandbox;
    this.#spec = spec;
    this.#pids = new Set(this.#present());
  }

  /** Of its own accord it starts no process, and none of its processes ends. */
  isFit(): boolean {
    const { init } = this.#sandbox;
    const pids = this.#present();
    return !this.#gone && init !== undefined && pids.includes(init) && pids.every((pid) => this.#pids.has(pid));
  }

  async take(spec: SandboxSpec): Promise<RunningSandbox> {
    const isOfThisKind = KNOWN.every((field) => spec[field] === this.#spec[field]);
    if (!isOfThisKind || spec.rootfs !== undefined || spec.owner !== undefined) {
      throw new Error('it was prepared for a sandbox of another kind');
    }
    if (!this.isFit()) throw new Error('it has ended, or is not as it was prepared');
    this.#gone = true;
    await this.#sandbox.assign(spec);
    return this.#sandbox;
  }

  discard(): Promise<void> {
    this.#gone = true;
    return this.#sandbox.stop().catch(() => {});
  }

  #present(): number[] {
    try {
      return this.#sandbox.basePids() ?? [];
    } catch {
      // Its cgroup is gone, or no descriptor is free.
      return [];
    }
  }
}
