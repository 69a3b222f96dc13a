import { type ClientRequest, request } from 'node:http';
import type { Sandbox } from '../../lib/contract/messages.ts';

/** The few REST calls these tests make; every call is a connection of its own, as servers come and go. */
export class Api {
  readonly #base: string;

  constructor(address: string) {
    this.#base = `http://${address}`;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.#base + path, { ...init, headers: { connection: 'close', ...init.headers } });
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

  async sandbox(id: string): Promise<Sandbox> {
    return (await this.get(`/v1/sandboxes/${id}`)) as Sandbox;
  }
}

function idOf({ status, body }: { status: number; body: unknown }): string {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return (body as { id: string }).id;
}
