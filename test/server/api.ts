import { type ClientRequest, request } from 'node:http';
import type { Sandbox } from '../../lib/contract/messages.ts';

/** The few REST calls these tests make; every call is a connection of its own, as servers come and go. */
export class Api {
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor(address: string, key?: string) {
    this.#base = `http://${address}`;
    this.#headers = { connection: 'close', ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.#base + path, { ...init, headers: { ...this.#headers, ...init.headers } });
  }

  async get(path: string): Promise<unknown> {
    return (await this.fetch(path)).json();
  }

  async post(path: string, body: object): Promise<{ status: number; body: unknown }> {
    const headers = { 'content-type': 'application/json' };
    const answer = await this.fetch(path, { method: 'POST', body: JSON.stringify(body), headers });
    return { status: answer.status, body: await answer.json() };
  }

  async codebase(): Promise<string> {
    return idOf(await this.post('/v1/codebases', { name: 'a', owner_id: 'ann' }));
  }

  async create(codebase_id: string, more: object = {}): Promise<string> {
    return idOf(await this.post('/v1/sandboxes', { codebase_id, ...more }));
  }

  /** A call that is under way, as the server has said, and does not end by itself. */
  unfinishedUpload(codebase: string): Promise<ClientRequest> {
    const headers = { expect: '100-continue', 'content-length': 10 };
    const call = request(`${this.#base}/v1/codebases/${codebase}/files/a`, { method: 'PUT', headers });
    call.on('error', () => undefined);
    call.flushHeaders();
    return new Promise((resolve) => call.once('continue', () => resolve(call)));
  }

  /** A server that starts on a busy machine is ready before it has started each sandbox: waits for that. */
  async sandbox(id: string): Promise<Sandbox> {
    return this.#started(async () => (await this.get(`/v1/sandboxes/${id}`)) as Sandbox, isPending);
  }

  /** All of them; waits like `sandbox`. */
  async sandboxes(): Promise<Sandbox[]> {
    const list = async () => ((await this.get('/v1/sandboxes?page_size=1000')) as { sandboxes: Sandbox[] }).sandboxes;
    return this.#started(list, (sandboxes) => sandboxes.some(isPending));
  }

  async #started<T>(ask: () => Promise<T>, isStarting: (found: T) => boolean): Promise<T> {
    for (;;) {
      const found = await ask();
      if (!isStarting(found)) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

const isPending = ({ status }: Sandbox) => status === 'SANDBOX_PENDING';

function idOf({ status, body }: { status: number; body: unknown }): string {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return (body as { id: string }).id;
}
