import { readFileSync } from 'node:fs';
import { errorCode } from '../../linux/errno.ts';
import { type LaunchPlan, launchFiles, neededWord, programWords } from './prelude.ts';
import { MAX_ERROR, type WaitingProcess } from './waiting-process.ts';

export const SILENT = 'the process that starts sandboxes does not answer';

/** A process of a spawner. The spawner alone waits for it, so that a signal never reaches another one with its pid. */
export class SpawnedProcess implements WaitingProcess {
  pid: number | undefined;
  readonly started: Promise<void>;
  readonly ended: Promise<string>;
  said = '';
  #isOver = false;
  #launched = false;
  /** To be sent once the process exists, so that one that was given up before is never told it. */
  #program: readonly string[] = [];
  readonly #send: (what: string, words: readonly string[]) => void;
  #begun!: () => void;
  #finish!: (how: string) => void;

  constructor(send: (what: string, words: readonly string[]) => void) {
    this.#send = send;
    this.started = new Promise((resolve) => {
      this.#begun = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Its end may not have been read yet: the spawner waits for it first. */
  get alive(): boolean {
    return !this.#isOver && (this.pid === undefined || exists(this.pid));
  }

  /** Whether it was told its program. */
  get isLaunched(): boolean {
    return this.#launched;
  }

  launch(plan: LaunchPlan): void {
    this.#launched = true;
    const user = plan.uid === undefined ? '-' : String(plan.uid);
    this.#program = [neededWord(plan), user, ...launchFiles(plan), ...programWords(plan)];
    if (this.pid !== undefined) this.#sendProgram();
  }

  closeOutput(): void {
    if (!this.#isOver) this.#send('m', []);
  }

  kill(): void {
    if (!this.#isOver) this.#send('k', []);
  }

  /** Its parent, the spawner, reads no requests now; when it does again, it finds one that ends a process which exists by then. */
  giveUp(parent: number | undefined): void {
    if (this.#isOver) return;
    this.kill();
    // Not waited for yet, so that its pid is not another's.
    if (this.pid !== undefined && parentOf(this.pid) === parent) killQuietly(this.pid);
    this.end(SILENT);
  }

  begin(pid: number): void {
    this.pid = pid;
    if (this.#launched) this.#sendProgram();
    this.#begun();
  }

  #sendProgram(): void {
    if (!this.#isOver) this.#send('l', this.#program);
  }

  hear(text: string): void {
    this.said = (this.said + text).slice(0, MAX_ERROR);
  }

  end(how: string): void {
    this.#isOver = true;
    this.#begun();
    this.#finish(how);
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
  } catch {
    return undefined;
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
