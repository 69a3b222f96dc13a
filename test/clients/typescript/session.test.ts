import { describe, expect, it } from 'vitest';
import { Paddock, Session, type SessionInfo } from '../../../clients/typescript/src/index.ts';
import { fakeServer, gone, json } from './fake-server.ts';

describe('a session', () => {
  it('sends a command when those before it have ended', async () => {
    const waiting: (() => void)[] = [];
    const { url, seen } = await fakeServer((res, each) => {
      waiting.push(() => json({ exit_code: 0, stdout: JSON.parse(each.body).command })(res, each));
    });
    const session = new Session(new Paddock({ url }).api, { id: 'se_1' } as SessionInfo);
    const controller = new AbortController();
    const first = session.run('first');
    const aborted = expect(session.run('second', { signal: controller.signal })).rejects.toThrow('enough');
    const third = session.run('third');
    await expect.poll(() => seen.length).toBe(1);
    controller.abort(new Error('enough'));
    await aborted;
    expect(seen).toHaveLength(1);
    waiting.shift()!();
    expect((await first).stdout).toBe('first');
    await expect.poll(() => seen.length).toBe(2);
    waiting.shift()!();
    expect((await third).stdout).toBe('third');
  });

  it('that is gone is closed', async () => {
    const { url } = await fakeServer(gone('session'));
    await new Session(new Paddock({ url }).api, { id: 'se_1' } as SessionInfo)[Symbol.asyncDispose]();
  });
});
