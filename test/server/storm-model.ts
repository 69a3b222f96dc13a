import { expect } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import type { Api } from './api.ts';

type State = 'SANDBOX_RUNNING' | 'SANDBOX_STOPPED' | 'GONE';

/** What a client knows of one sandbox: one value each, or two while an answer is missing. */
interface Known {
  states: Set<State>;
  /** Values of its label `n`. */
  labels: Set<string>;
}

/** What clients of a server that may be killed at any moment know of its sandboxes. */
export class StormModel {
  readonly #sandboxes = new Map<string, Known>();
  readonly #busy = new Set<string>();
  readonly #fewest: number;
  readonly #more: object;
  #last = 0;
  acknowledged = 0;
  /** Answers that no change may have: the server was not yet killed. */
  readonly refused: string[] = [];

  /** `fewest`: sandboxes that are created before others are changed. `more`: fields of each creation. */
  constructor(fewest = 20, more: object = {}) {
    this.#fewest = fewest;
    this.#more = more;
  }

  /** One change of a sandbox of its own choice; rejects when no answer came. */
  async change(api: Api, codebase: string): Promise<void> {
    const idle = [...this.#sandboxes].filter(
      ([id, { states }]) => states.size === 1 && !states.has('GONE') && !this.#busy.has(id),
    );
    const [id, known] = idle[Math.floor(Math.random() * idle.length)] ?? [];
    if (!id || !known || idle.length < this.#fewest) {
      const created = await api.create(codebase, { ...this.#more, labels: { n: 'new' } });
      this.#sandboxes.set(created, { states: new Set(['SANDBOX_RUNNING']), labels: new Set(['new']) });
    } else {
      this.#busy.add(id);
      try {
        await (Math.random() < 0.4 ? this.#label(api, id, known) : this.#move(api, id, known));
      } finally {
        this.#busy.delete(id);
      }
    }
    this.acknowledged++;
  }

  /** Compares with what a restarted server says, and takes that for known from here on. */
  check(actual: ReadonlyMap<string, Pick<Sandbox, 'status' | 'labels'>>): void {
    for (const [id, known] of this.#sandboxes) {
      const sandbox = actual.get(id);
      const state = (sandbox?.status ?? 'GONE') as State;
      expect([...known.states], id).toContain(state);
      known.states = new Set([state]);
      if (sandbox === undefined) continue;
      expect([...known.labels], id).toContain(sandbox.labels.n);
      known.labels = new Set([sandbox.labels.n ?? '']);
    }
  }

  async #label(api: Api, id: string, known: Known): Promise<void> {
    const n = `${++this.#last}`;
    known.labels.add(n);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ labels: { n } });
    const answer = await api.fetch(`/v1/sandboxes/${id}`, { method: 'PATCH', body, headers });
    await this.#accepted(answer);
    known.labels = new Set([n]);
  }

  async #move(api: Api, id: string, known: Known): Promise<void> {
    const [state] = known.states;
    const next: State =
      Math.random() < 0.3 ? 'GONE' : state === 'SANDBOX_RUNNING' ? 'SANDBOX_STOPPED' : 'SANDBOX_RUNNING';
    known.states.add(next);
    const verb = next === 'SANDBOX_RUNNING' ? 'start' : 'stop';
    const answer = await (next === 'GONE'
      ? api.fetch(`/v1/sandboxes/${id}`, { method: 'DELETE' })
      : api.fetch(`/v1/sandboxes/${id}/${verb}`, { method: 'POST' }));
    await this.#accepted(answer);
    known.states = new Set([next]);
  }

  async #accepted(answer: Response): Promise<void> {
    if (answer.status === 200) return;
    const text = await answer.text();
    this.refused.push(`${answer.status}: ${text}`);
    throw new Error(text);
  }
}
