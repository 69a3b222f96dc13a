import { expect } from 'vitest';
import type { Api } from './api.ts';

type State = 'SANDBOX_RUNNING' | 'SANDBOX_STOPPED' | 'GONE';

/** What clients of a server that may be killed at any moment know of its sandboxes. */
export class StormModel {
  /** The states each may be in: one, or two while an answer is missing. */
  readonly #sandboxes = new Map<string, Set<State>>();
  readonly #busy = new Set<string>();
  acknowledged = 0;

  /** One change of a sandbox of its own choice; rejects when no answer came. */
  async change(api: Api, codebase: string): Promise<void> {
    const idle = [...this.#sandboxes].filter(
      ([id, states]) => states.size === 1 && !states.has('GONE') && !this.#busy.has(id),
    );
    const [id, states] = idle[Math.floor(Math.random() * idle.length)] ?? [];
    if (!id || !states || idle.length < 20) {
      this.#sandboxes.set(await api.create(codebase), new Set(['SANDBOX_RUNNING']));
    } else {
      const [state] = states;
      const next: State =
        Math.random() < 0.3 ? 'GONE' : state === 'SANDBOX_RUNNING' ? 'SANDBOX_STOPPED' : 'SANDBOX_RUNNING';
      this.#busy.add(id);
      states.add(next);
      try {
        const verb = next === 'SANDBOX_RUNNING' ? 'start' : 'stop';
        const answer = await (next === 'GONE'
          ? api.fetch(`/v1/sandboxes/${id}`, { method: 'DELETE' })
          : api.fetch(`/v1/sandboxes/${id}/${verb}`, { method: 'POST' }));
        expect(answer.status).toBe(200);
        this.#sandboxes.set(id, new Set([next]));
      } finally {
        this.#busy.delete(id);
      }
    }
    this.acknowledged++;
  }

  /** Compares with what a restarted server says, and takes that for known from here on. */
  check(actual: ReadonlyMap<string, string>): void {
    for (const [id, states] of this.#sandboxes) {
      const state = (actual.get(id) ?? 'GONE') as State;
      expect([...states], id).toContain(state);
      this.#sandboxes.set(id, new Set([state]));
    }
  }
}
