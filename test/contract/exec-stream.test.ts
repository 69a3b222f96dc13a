import { expect } from 'vitest';
import { atTimeout } from '../at-timeout.ts';
import { eventually, expectRefusal } from './scene.ts';
import { sleepers } from './sleepers.ts';
import { type Case, contract } from './suite.ts';

const MIB = 1024 * 1024;

const cases: Case[] = [
  {
    name: 'streams bytes unchanged, stdout and stderr separately, and ends with one chunk of exit code and no data',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const command = "printf '\\377\\000a'; printf 'warn' >&2; exit 5";
      const chunks = [];
      for await (const chunk of scene.client.watch('ExecStream', { sandbox_id: sandbox.id, command }))
        chunks.push(chunk);
      const last = chunks.at(-1);
      const output = chunks.slice(0, -1);
      const bytes = (stream: string) =>
        Buffer.concat(output.filter((each) => each.stream === stream).map(({ data }) => data));
      expect(bytes('STDOUT')).toEqual(Buffer.from([0xff, 0, 0x61]));
      expect(bytes('STDERR').toString()).toBe('warn');
      expect(last).toMatchObject({ exit_code: 5, duration_ms: expect.any(Number) });
      expect(last?.data.length).toBe(0);
      expect(output.filter((each) => each.exit_code !== undefined)).toEqual([]);
    },
  },
  {
    name: 'includes exit code 0 in the last chunk',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const chunks = [];
      for await (const chunk of scene.client.watch('ExecStream', { sandbox_id: sandbox.id, command: 'true' }))
        chunks.push(chunk);
      expect(chunks).toMatchObject([{ exit_code: 0 }]);
    },
  },
  {
    // The command goes on only after the first bytes have reached the client.
    name: 'streams the first byte when it is written',
    async run(scene) {
      const codebase = await scene.codebase({});
      const sandbox = await scene.sandbox(codebase);
      const command = 'echo first; while [ ! -e go ]; do sleep 0.02; done; echo second';
      let text = '';
      for await (const { data } of scene.client.watch('ExecStream', { sandbox_id: sandbox.id, command, timeout: 60 })) {
        if (text === '') await scene.client.upload(codebase.id, 'go', '');
        text += Buffer.from(data).toString();
      }
      expect(text).toBe('first\nsecond\n');
    },
  },
  {
    name: 'streams 64 MiB completely, more than Exec returns',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const command = `head -c ${64 * MIB} /dev/zero`;
      let bytes = 0;
      for await (const { data } of scene.client.watch('ExecStream', { sandbox_id: sandbox.id, command }))
        bytes += data.length;
      expect(bytes).toBe(64 * MIB);
    },
  },
  {
    name: 'blocks a command that writes faster than the client reads',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const before = scene.server.rss();
      const stream = scene.client.watch('ExecStream', {
        sandbox_id: sandbox.id,
        command: 'exec yes 7005',
        timeout: 60,
      });
      const chunks = stream[Symbol.asyncIterator]();
      await chunks.next();
      // Nothing is read now. What it wrote stops growing while the command is still there.
      const written = async () =>
        (
          await scene.output(
            sandbox,
            'grep -h "^wchar" $(grep -la "ye[s].7005" /proc/[0-9]*/cmdline | sed s/cmdline/io/)',
          )
        ).trim();
      let last = '';
      await eventually('a command that waits', async () => {
        const now = await written();
        const still = now === last;
        last = now;
        return still;
      });
      expect(scene.server.rss() - before).toBeLessThan(64 * MIB);
      await chunks.return?.();
    },
  },
  {
    name: 'ends a streamed command at its timeout after the output so far',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const command = 'echo partial; sleep 60';
      const streamed = async (timeout: number) => {
        let text = '';
        const all = async () => {
          const chunks = scene.client.watch('ExecStream', { sandbox_id: sandbox.id, command, timeout });
          for await (const { data } of chunks) text += Buffer.from(data).toString();
        };
        await expectRefusal(all(), 'DEADLINE_EXCEEDED');
        return text;
      };
      expect(await atTimeout(streamed, (text) => text !== '')).toBe('partial\n');
    },
  },
  {
    name: 'kills a streamed command whose client disconnected',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const abort = new AbortController();
      const request = { sandbox_id: sandbox.id, command: 'echo started; sleep 7006' };
      await collectUntilAborted(scene.client.watch('ExecStream', request, abort.signal), abort);
      await eventually('the end of the command', async () => (await scene.output(sandbox, sleepers(7006))) === '');
    },
  },
  {
    name: 'refuses an invalid request with a status before the first chunk',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const request = { sandbox_id: sandbox.id, command: 'true' };
      await expectRefusal(scene.client.watch('ExecStream', { ...request, sandbox_id: 'sb_absent' }), 'NOT_FOUND');
      await expectRefusal(scene.client.watch('ExecStream', { ...request, timeout: -1 }), 'INVALID_ARGUMENT', 'timeout');
      await expectRefusal(
        scene.client.watch('ExecStream', { ...request, workdir: 'absent' }),
        'INVALID_ARGUMENT',
        'workdir',
      );
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await expectRefusal(scene.client.watch('ExecStream', request), 'FAILED_PRECONDITION', 'is stopped');
    },
  },
];

async function collectUntilAborted(stream: AsyncIterable<{ data: Uint8Array }>, abort: AbortController): Promise<void> {
  try {
    for await (const _ of stream) abort.abort();
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  }
}

contract('ExecStream', cases);
