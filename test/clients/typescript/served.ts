import { afterAll, beforeAll, expect } from 'vitest';
import type { Settings } from '../../../clients/typescript/src/http/call.ts';
import { Paddock } from '../../../clients/typescript/src/index.ts';
import { Server, type StartOptions, State } from '../../contract/server.ts';

interface Served {
  readonly url: string;
  /** A client of the server. */
  paddock(settings?: Settings): Paddock;
}

/** One server for the tests of a file. Fails if it leaves something behind. */
export function servedOnce(options: StartOptions = {}): Served {
  let state: State;
  let server: Server;
  beforeAll(async () => {
    state = await State.create();
    server = await Server.start(state, options);
  });
  afterAll(async () => {
    await server.stop();
    const left = await state.leftovers();
    await state.remove();
    expect(left).toEqual([]);
  });
  const url = () => `http://${server.httpAddress}`;
  return {
    get url() {
      return url();
    },
    paddock: (settings = {}) => new Paddock({ url: url(), ...settings }),
  };
}
