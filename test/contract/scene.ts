import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Codebase, ExecResponse, PermissionRule, Sandbox } from '../../lib/contract/messages.ts';
import type { Code } from '../../lib/errors.ts';
import { CallError, type Client, type Content, collect, type Protocol } from './client.ts';
import { GrpcClient } from './grpc-client.ts';
import { RestClient } from './rest-client.ts';
import { EVERYTHING } from './rules.ts';
import type { Server, State } from './server.ts';

/** What one case works with: a client of its protocol, an owner of its own, and what it made, taken away at its end. */
export class Scene {
  readonly server: Server;
  readonly state: State;
  readonly runtime: string;
  readonly client: Client;
  /** Whatever the case's protocol: for what only that protocol has. */
  readonly rest: RestClient;
  readonly grpc: GrpcClient;
  readonly owner = `owner-${randomUUID()}`;
  readonly #codebases: string[] = [];
  readonly #sandboxes: string[] = [];

  constructor(server: Server, state: State, runtime: string, protocol: Protocol) {
    this.server = server;
    this.state = state;
    this.runtime = runtime;
    this.rest = new RestClient(server.httpAddress);
    this.grpc = new GrpcClient(server.grpcAddress);
    this.client = protocol === 'rest' ? this.rest : this.grpc;
  }

  async codebase(files: Record<string, Content> = {}, owner_id = this.owner): Promise<Codebase> {
    const { id } = await this.client.call('CreateCodebase', { name: 'a codebase', owner_id });
    this.#codebases.push(id);
    await Promise.all(Object.entries(files).map(([path, content]) => this.client.upload(id, path, content)));
    return this.client.call('GetCodebase', { codebase_id: id });
  }

  async sandbox(
    codebase: Codebase,
    rules: readonly PermissionRule[] = EVERYTHING,
    more: object = {},
  ): Promise<Sandbox> {
    const request = { codebase_id: codebase.id, permissions: rules, ...more };
    const sandbox = await this.client.call('CreateSandbox', request);
    this.#sandboxes.push(sandbox.id);
    return sandbox;
  }

  /** One that the case made itself. */
  owns({ id }: Sandbox): void {
    this.#sandboxes.push(id);
  }

  /** A sandbox on a codebase of its own. */
  async sandboxOn(files: Record<string, Content>, rules?: readonly PermissionRule[], more?: object): Promise<Sandbox> {
    return this.sandbox(await this.codebase(files), rules, more);
  }

  run(sandbox: Sandbox, command: string, more: object = {}): Promise<ExecResponse> {
    return this.client.call('Exec', { sandbox_id: sandbox.id, command, timeout: 60, ...more });
  }

  /** What the command wrote to stdout; it must succeed. */
  async output(sandbox: Sandbox, command: string, more: object = {}): Promise<string> {
    const { stdout, stderr, exit_code } = await this.run(sandbox, command, more);
    if (exit_code !== 0) throw new Error(`${command}: exit code ${exit_code}: ${stderr}`);
    return stdout;
  }

  /** What a Python program prints that makes /tmp/ready and waits for /tmp/go, which comes after `then`. */
  async whileRunning(sandbox: Sandbox, program: string, then: () => Promise<unknown>): Promise<string> {
    const running = this.output(sandbox, 'python3 -', { stdin: program });
    await eventually('the program runs', async () => (await this.run(sandbox, 'test -e /tmp/ready')).exit_code === 0);
    await then();
    await this.run(sandbox, 'touch /tmp/go');
    return running;
  }

  async content(codebase: Codebase, path: string): Promise<string> {
    return (await collect(this.client.download(codebase.id, path))).toString();
  }

  async close(): Promise<void> {
    const destroy = (sandbox_id: string) => quietly(this.client.call('DestroySandbox', { sandbox_id, discard: true }));
    await Promise.all(this.#sandboxes.map(destroy));
    const remove = (codebase_id: string) => quietly(this.client.call('DeleteCodebase', { codebase_id }));
    await Promise.all(this.#codebases.map(remove));
    this.disconnect();
  }

  /** Where the server was ended, which keeps what the case made. */
  disconnect(): void {
    this.rest.close();
    this.grpc.close();
  }
}

/** What the case itself took away, or a server that it ended, is no failure of the taking away. */
async function quietly(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    const gone = error instanceof CallError && (error.code === 'NOT_FOUND' || error.code === 'UNAVAILABLE');
    if (!gone && (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
  });
}

export async function refusal(call: Promise<unknown> | AsyncIterable<unknown>): Promise<CallError> {
  try {
    if (call instanceof Promise) await call;
    else for await (const _ of call);
  } catch (error) {
    if (error instanceof CallError) return error;
    throw error;
  }
  throw new Error('expected a refusal, it succeeded');
}

export async function expectRefusal(
  call: Promise<unknown> | AsyncIterable<unknown>,
  code: Code,
  message?: RegExp | string,
): Promise<CallError> {
  const error = await refusal(call);
  expect(`${error.code}: ${error.message}`).toMatch(new RegExp(`^${code}: .`));
  if (message !== undefined) expect(error.message).toMatch(message);
  return error;
}

type Falsy = undefined | false | '';

/** Asks until `probe` answers something that counts as true; fails after `deadline` ms. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | Falsy> | T | Falsy,
  deadline = 60_000,
): Promise<T> {
  const end = Date.now() + deadline;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within ${deadline} ms: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
