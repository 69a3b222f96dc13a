import { beforeAll, describe, expect, it } from 'vitest';
import type { ExecResponse } from '../../lib/contract/messages.ts';
import { serverOfFile } from '../contract/use-server.ts';
import { Api } from '../server/api.ts';

const served = serverOfFile();
let api: Api;
let sandbox: string;

beforeAll(async () => {
  api = new Api(served.server.httpAddress);
  sandbox = await api.create(await api.codebase());
});

describe.each(['', 'bash', '/bin/bash', 'sh'])('an alias of a session with the shell "%s"', (shell) => {
  async function session(): Promise<(command: string) => Promise<string>> {
    const { body } = await api.post(`/v1/sandboxes/${sandbox}/sessions`, { shell });
    const { id } = body as { id: string };
    return async (command) => {
      const { stdout, stderr } = (await api.post(`/v1/sessions/${id}/exec`, { command })).body as ExecResponse;
      return stdout + stderr;
    };
  }

  it('is expanded by later commands, and by later lines of its own', async () => {
    const run = await session();
    expect(await run("alias hi='echo hello'")).toBe('');
    expect(await run('hi you')).toBe('hello you\n');
    expect(await run("alias twice='hi; hi'\ntwice")).toBe('hello\nhello\n');
    expect(await run(`twice # ${'x'.repeat(5000)}`)).toBe('hello\nhello\n');
    await run('unalias hi');
    expect(await run('hi')).toMatch(/not found/);
  });

  it('changes nothing of how the session gives commands to its shell', async () => {
    const run = await session();
    await run("alias command='echo a' eval='echo b' echo='false' unset='echo c' exit='echo d' shopt='echo e'");
    expect(await run("printf 'out\\n'; (exit 3)")).toBe('out\n');
    expect(await run('printf "$?\\n"')).toBe('1\n');
  });
});
