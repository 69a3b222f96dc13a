import type { ReadySandbox, RunningSandbox, SandboxSpec } from '../runtime.ts';
import type { BwrapSandbox } from './launch.ts';

/** A sandbox from its launch until it is taken. See `ReadySandbox`. */
export class ReadyBwrapSandbox implements ReadySandbox {
  readonly #sandbox: BwrapSandbox;
  readonly #uid: number;
  readonly #workspace: string;
  /** Its processes when it was prepared. */
  readonly #pids: ReadonlySet<number>;
  #gone = false;

  constructor(sandbox: BwrapSandbox, { uid, workspace }: Pick<SandboxSpec, 'uid' | 'workspace'>) {
    this.#sandbox = sandbox;
    this.#uid = uid;
    this.#workspace = workspace;
    this.#pids = new Set(this.#present());
  }

  /** Of its own accord it starts no process, and none of its processes ends. */
  isFit(): boolean {
    const { init } = this.#sandbox;
    const pids = this.#present();
    return !this.#gone && init !== undefined && pids.includes(init) && pids.every((pid) => this.#pids.has(pid));
  }

  take(spec: SandboxSpec): RunningSandbox {
    const { uid, workspace, image, rootfs, owner } = spec;
    if (
      uid !== this.#uid ||
      workspace !== this.#workspace ||
      image !== '' ||
      rootfs !== undefined ||
      owner !== undefined
    ) {
      throw new Error('it was prepared for a sandbox of another kind');
    }
    if (!this.isFit()) throw new Error('it has ended, or is not as it was prepared');
    this.#gone = true;
    this.#sandbox.assign(spec);
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
