import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { eventually, Scene } from './scene.ts';
import { Server, type StartOptions, State } from './server.ts';

/** The server of the present test, which the test may end and start again on the same state. */
class ServedState {
  readonly #options: StartOptions;
  #state: State | undefined;
  #server: Server | undefined;

  constructor(options: StartOptions) {
    this.#options = options;
  }

  get state(): State {
    return this.#state!;
  }

  get server(): Server {
    return this.#server!;
  }

  /** The next server on the state; the one before has ended. */
  async start(): Promise<void> {
    this.#server = await Server.start(this.state, this.#options);
  }

  get url(): string {
    return `http://${this.server.httpAddress}`;
  }

  /** Clients of the present server over REST. The caller closes it, or its clients where the server was killed. */
  scene(): Scene {
    return new Scene(this.server, this.state, 'bwrap', 'rest');
  }

  /** Clients of the next server, after the present one was killed, if it runs, and its sandboxes have ended. */
  async next(scene: Scene): Promise<Scene> {
    await this.server.stop('SIGKILL');
    scene.disconnect();
    await eventually('the end of the sandboxes', () => this.state.processes().length === 0);
    await this.start();
    return this.scene();
  }

  async begin(): Promise<void> {
    this.#state = await State.create();
    await this.start();
  }

  /** Ends the server; fails when it leaves mounts, processes or cgroups. */
  async end(): Promise<void> {
    await this.#server?.stop();
    const left = await this.state.leftovers();
    await this.state.remove();
    expect(left).toEqual([]);
  }
}

/** One server for all tests of the file. */
export function serverOfFile(options: StartOptions = {}): ServedState {
  const served = new ServedState(options);
  beforeAll(() => served.begin());
  afterAll(() => served.end());
  return served;
}

/** A server on a new state before each test of the suite it is called in; both are gone after the test. */
export function useServer(options: StartOptions = {}): ServedState {
  const served = new ServedState(options);
  beforeEach(() => served.begin());
  afterEach(() => served.end());
  return served;
}
