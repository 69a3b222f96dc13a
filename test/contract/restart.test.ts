import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { eventually } from './scene.ts';
import { Server } from './server.ts';
import { useServer } from './use-server.ts';

describe('a server on the state of an earlier one', () => {
  const served = useServer();

  const scene = () => served.scene();

  it('restores codebases, running and stopped sandboxes and their files after SIGTERM', async () => {
    await comesBack('SIGTERM', 0);
  });

  it('restores everything after SIGKILL, with no process or mount of the killed server left', async () => {
    await comesBack('SIGKILL', 'SIGKILL');
  });

  it('exits with code 0 while commands, streams and uploads are in progress', async () => {
    const work = scene();
    const codebase = await work.codebase({});
    const sandbox = await work.sandbox(codebase);
    const calls = [
      work.run(sandbox, 'touch started; sleep 60'),
      drain(work.client.watch('ExecStream', { sandbox_id: sandbox.id, command: 'yes' })),
      work.client.upload(codebase.id, 'endless', endless()),
    ].map((call) =>
      call.then(
        () => undefined,
        () => undefined,
      ),
    );
    await eventually('the command at work', async () => (await work.run(sandbox, 'test -e started')).exit_code === 0);
    expect(await served.server.stop()).toBe(0);
    await Promise.all(calls);
    work.disconnect();
  });

  it('is refused while the earlier one runs, which is unaffected', async () => {
    const work = scene();
    const sandbox = await work.sandboxOn({ f: 'text' });
    await expect(Server.start(served.state)).rejects.toThrow(/before it was ready/);
    expect(await work.output(sandbox, 'cat f')).toBe('text');
    await work.close();
  });

  async function comesBack(signal: NodeJS.Signals, expected: number | string): Promise<void> {
    const first = scene();
    const codebase = await first.codebase({ f: 'base\n' });
    const [running, stopped] = [await first.sandbox(codebase), await first.sandbox(codebase)];
    await first.output(running, 'echo mine > f; echo new > n; sleep 7200 >/dev/null 2>&1 &');
    await first.output(running, 'cat f');
    await first.output(stopped, 'echo other > f');
    const shown = await first.client.call('StopSandbox', { sandbox_id: stopped.id });
    const process = { sandbox_id: running.id, process_id: 'long' };
    const output = (work: typeof first) =>
      work.client.call('ReadProcessOutput', { ...process, offset: 0, wait: 20_000 });
    await first.client.call('StartProcess', { ...process, command: 'echo kept; sleep 7201' });
    expect(Buffer.from((await output(first)).output[0]!.data).toString()).toBe('kept\n');
    // What was written in the last milliseconds before the death of the server may be lost.
    const directory = join(served.state.directory, 'mounts', 'processes', running.id, 'long');
    await eventually('the output on the disk', async () =>
      readdirSync(directory).some((name) => readFileSync(join(directory, name)).includes('kept\n')),
    );
    first.disconnect();

    expect(await served.server.stop(signal)).toBe(expected);
    const second = await served.next(first);
    // On a busy machine the server is ready before it has started each of them.
    const get = (sandbox_id: string) =>
      eventually('its start', async () => {
        const found = await second.client.call('GetSandbox', { sandbox_id });
        return found.status === 'SANDBOX_PENDING' ? undefined : found;
      });
    // After a kill, files that were stored in the last seconds are counted in the background. The revision is another one then,
    // because it cannot be told whether all is there.
    const { revision, ...whole } = codebase;
    await eventually('the totals', async () => {
      const { revision: now, ...found } = await second.client.call('GetCodebase', { codebase_id: codebase.id });
      if (signal === 'SIGTERM') expect(now).toBe(revision);
      return isDeepStrictEqual(found, whole);
    });
    expect(await get(running.id)).toEqual(running);
    expect(await get(stopped.id)).toEqual(shown);
    expect(await second.output(running, 'cat f n')).toBe('mine\nnew\n');
    // Its output is there, and it has one end.
    expect(await output(second)).toMatchObject({ next: 5, end: { reason: 'sandbox_lost', exit_code: -1 } });
    expect(await second.client.call('GetProcess', process)).toMatchObject({ output_next: 5, stdin_open: false });
    await second.client.call('StartSandbox', { sandbox_id: stopped.id });
    expect(await second.output(stopped, 'cat f')).toBe('other\n');
    for (const { id } of [running, stopped]) await second.client.call('DestroySandbox', { sandbox_id: id });
    await second.close();
  }
});

async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}

async function* endless(): AsyncGenerator<Uint8Array, void, void> {
  for (;;) {
    yield Buffer.alloc(1000);
    await new Promise((done) => setTimeout(done, 10));
  }
}
