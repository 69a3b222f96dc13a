import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants } from 'node:perf_hooks';
import { Server, State } from '../contract/server.ts';

const RECORDER = join(import.meta.dirname, 'recorder.mjs');
export const ADMIN = `pdk_operator_${'m'.repeat(43)}`;

/** Milliseconds of the longest turns; 0: none was longer than the recorder's limit. */
export interface Figures {
  /** CPU time without collections of the whole heap, whose time is that of all that the server holds, and not of the input. */
  work: number;
  /** CPU time with everything. */
  cpu: number;
  /** Time in synchronous calls. A collection waits for its helper threads, which on a busy machine do not run: not counted. */
  waited: number;
}

/** A server whose main thread is measured. */
export class MeasuredServer {
  readonly #state: State;
  readonly #server: Server;
  readonly #file: string;

  private constructor(state: State, server: Server, file: string) {
    this.#state = state;
    this.#server = server;
    this.#file = file;
  }

  static async start(): Promise<MeasuredServer> {
    const state = await State.create();
    const file = join(state.directory, 'turns');
    await writeFile(file, '');
    const env = { NODE_OPTIONS: `--import=${RECORDER}`, PADDOCK_TURNS: file, PADDOCK_ADMIN_KEY: ADMIN };
    // More than the three doors make.
    const config = { auth: { mode: 'keys' }, sandbox: { max_per_user: 100 } };
    return new MeasuredServer(state, await Server.start(state, { config, env }), file);
  }

  get url(): string {
    return `http://${this.#server.httpAddress}`;
  }

  get httpAddress(): string {
    return this.#server.httpAddress;
  }

  get grpcAddress(): string {
    return this.#server.grpcAddress;
  }

  /** The longest turn from before a call until the server has nothing left to do for it in the turns after its answer. */
  async measure<T>(call: () => Promise<T>): Promise<Figures & { result: T }> {
    await this.#settle();
    const from = (await readFile(this.#file, 'utf8')).length;
    const result = await call();
    await this.#settle();
    const lines = (await readFile(this.#file, 'utf8')).slice(from).split('\n');
    return { result, ...figuresOf(lines) };
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await this.#state.remove();
  }

  async #settle(): Promise<void> {
    for (let n = 0; n < 3; n++) await (await fetch(`${this.url}/health`)).text();
  }
}

function figuresOf(lines: readonly string[]): Figures {
  const of = (kind: string) => lines.filter((line) => line.startsWith(kind)).map((line) => line.split(' ').map(Number));
  const wholeHeap = of('gc').filter(([, , , kind]) => kind !== constants.NODE_PERFORMANCE_GC_MINOR);
  const turns = of('turn').map(([, start = 0, end = 0, cpu = 0, waited = 0]) => {
    const collections = wholeHeap.map(([, from = 0, to = 0]) => Math.max(0, Math.min(to, end) - Math.max(from, start)));
    const collecting = collections.reduce((sum, ms) => sum + ms, 0);
    return { work: Math.max(0, cpu - collecting), cpu, waited: Math.max(0, waited - collecting) };
  });
  const longest = (figure: keyof Figures) => Math.max(0, ...turns.map((turn) => turn[figure]));
  return { work: longest('work'), cpu: longest('cpu'), waited: longest('waited') };
}
