import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { Scene } from '../contract/scene.ts';
import { type Sections, Server, State } from '../contract/server.ts';

/** The attacked server: the built server on bwrap. `scene` belongs to the running test. */
export interface Target {
  readonly scene: Scene;
  readonly server: Server;
  readonly state: State;
}

/**
 * Attacks through the public API on one server, which has to survive them all: it must end with 0 and leave no
 * process, mount or cgroup. The numbers in test names are the rows of docs/security.md.
 */
export function attacks(topic: string, define: (target: Target) => void, config: Sections = {}): void {
  describe(topic, () => {
    let state: State;
    let server: Server;
    let scene: Scene;

    beforeAll(async () => {
      state = await State.create();
      server = await Server.start(state, { config });
    });
    beforeEach(() => {
      scene = new Scene(server, state, 'bwrap', 'rest');
    });
    afterEach(() => scene.close());
    afterAll(async () => {
      const code = await server?.stop();
      const left = await state?.leftovers();
      await state?.remove();
      expect({ code, left }).toEqual({ code: 0, left: [] });
    });

    define({
      get scene() {
        return scene;
      },
      get server() {
        return server;
      },
      get state() {
        return state;
      },
    });
  });
}
