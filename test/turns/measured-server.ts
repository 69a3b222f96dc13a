import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Server, State } from '../contract/server.ts';

const RECORDER = join(import.meta.dirname, 'recorder.mjs');
export const ADMIN = `pdk_operator_${'m'.repeat(43)}`;

/** CPU milliseconds of the main thread. */
export interface Figures {
  /** Of the longest turn; 0: none was longer than the recorder's limit. */
  turn: number;
  /** Of the longest garbage collection, which is a part of a turn. */
  gc: number;
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
    const config = { auth: { mode: 'keys' } };
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
    const longest = (kind: string) =>
      Math.max(0, ...lines.filter((line) => line.startsWith(kind)).map((line) => Number(line.split(' ')[1])));
    return { result, turn: longest('turn'), gc: longest('gc') };
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await this.#state.remove();
  }

  async #settle(): Promise<void> {
    for (let n = 0; n < 3; n++) await (await fetch(`${this.url}/health`)).text();
  }
}
