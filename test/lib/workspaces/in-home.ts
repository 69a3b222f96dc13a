import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { Programs } from './programs.ts';
import type { Sandbox } from './sandbox.ts';

/** The programs of the sandbox, in its HOME. */
export class InHome extends Programs {
  readonly #s: Sandbox;

  constructor(s: Sandbox) {
    super();
    this.#s = s;
  }

  get fs() {
    return this.#s.fs;
  }

  get workspaceId() {
    return `${this.#s.spec.place ?? this.#s.spec.id}.home`;
  }

  get caller() {
    return this.#s.caller;
  }
}

/** Attaches the workspace anew, with a HOME. */
export function withHome(s: Sandbox, more: Partial<WorkspaceSpec> = {}): { s: Sandbox; home: InHome } {
  const base = join(s.home, 'empty');
  mkdirSync(base, { mode: 0o700 });
  s.goOn({ ...s.spec, home: { delta: join(s.spec.delta, 'home'), base }, ...more });
  return { s, home: new InHome(s) };
}
