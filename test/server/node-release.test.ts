import { readlinkSync, realpathSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Server, State } from '../contract/server.ts';

describe('the release of Node that runs the tests', () => {
  let state: State;
  let server: Server;
  beforeAll(async () => {
    state = await State.create();
    server = await Server.start(state, { runtime: 'bwrap' });
  });
  afterAll(async () => {
    await server?.stop();
    await state?.remove();
  });

  it('runs the server and its worker threads', () => {
    expect(readlinkSync(`/proc/${server.pid}/exe`)).toBe(realpathSync(process.execPath));
  });

  it('is the requested one', () => {
    const wanted = process.env.PADDOCK_NODE ?? process.versions.node;
    expect(`${process.versions.node}.`).toMatch(new RegExp(`^${wanted.replaceAll('.', '\\.')}\\.`));
  });
});
