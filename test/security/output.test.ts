import { expect, it } from 'vitest';
import type { Protocol } from '../contract/client.ts';
import { eventually, type Scene } from '../contract/scene.ts';
import { attacks } from './suite.ts';

const MIB = 1024 * 1024;
/** Exec may hold its own limit twice (as bytes, then as text) in addition to the limit of a stream. */
const MOST_GROWTH = 160 * MIB;

/** Commands with endless output, or output far above the limit; a client gets `kept` of the first stream. */
const FLOODS: readonly [name: string, command: string][] = [
  ['1 GB of lines', 'yes | head -c 1000000000'],
  ['100 MB in one line', "head -c 100000000 /dev/zero | tr '\\0' x"],
  ['100 MB of NUL', 'head -c 100000000 /dev/zero'],
  ['100 MB that is not UTF-8', "head -c 100000000 /dev/zero | tr '\\0' '\\377'"],
  ['both streams at once', 'yes | head -c 200000000 & yes | head -c 200000000 >&2; wait'],
  ['single bytes', 'i=0; while [ $i -lt 20000 ]; do printf x; i=$((i+1)); done; head -c 20000000 /dev/zero'],
];

attacks(
  'output',
  (target) => {
    it.each(FLOODS)(
      '24: output of %s is cut, which is reported, and the server’s memory is bounded',
      async (_, command) => {
        const { scene, server } = target;
        const sandbox = await scene.sandboxOn({});
        const before = server.rss();
        let most = 0;
        const timer = setInterval(() => {
          most = Math.max(most, server.rss());
        }, 50);
        const answer = await scene.run(sandbox, command, { timeout: 60 }).finally(() => clearInterval(timer));
        expect(answer.exit_code).toBe(0);
        // U+FFFD is three bytes long.
        expect(Buffer.byteLength(answer.stdout)).toBeLessThan(3.1 * MIB);
        expect(`${answer.stdout.slice(-300)}${answer.stderr.slice(-300)}`).toMatch(/cut|truncat|limit/i);
        expect(most - before).toBeLessThan(MOST_GROWTH);
      },
    );

    it('24: control characters reach the client unchanged, and appear nowhere else', async () => {
      const { scene, server } = target;
      const sandbox = await scene.sandboxOn({});
      const command = `printf '\\033]0;owned\\007\\r\\n{"msg":"ready"}\\n\\303\\050' | tee /dev/stderr`;
      const answer = await scene.run(sandbox, command);
      expect(answer.stdout).toBe('\u001b]0;owned\u0007\r\n{"msg":"ready"}\n\ufffd(');
      expect(server.log.filter((line) => line.includes('owned')).length).toBe(0);
    });

    it.each(['rest', 'grpc'] as const)(
      '54: a %s client that stops reading blocks its command, not the server',
      async (protocol) => {
        const { scene, server } = target;
        const sandbox = await scene.sandboxOn({});
        const before = server.rss();
        const streams = await Promise.all(
          Array.from({ length: 8 }, () =>
            openUnread(scene, protocol, { sandbox_id: sandbox.id, command: 'exec yes 8301' }),
          ),
        );
        const written = () =>
          scene.output(sandbox, 'cat $(grep -la "ye[s].8301" /proc/[0-9]*/cmdline | sed s/cmdline/io/) | grep ^wchar');
        let last = '';
        await eventually('commands that wait', async () => {
          const now = await written();
          const still = now === last;
          last = now;
          return still;
        });
        expect(server.rss() - before).toBeLessThan(MOST_GROWTH);
        expect((await scene.rest.send('GET', '/health')).status).toBe(200);
        // A client that never reads again: the end of its connection ends the command.
        for (const leave of streams) leave();
        await eventually(
          'the end of the commands',
          async () => (await scene.output(sandbox, 'grep -la "ye[s].8301" /proc/[0-9]*/cmdline; :')) === '',
        );
      },
    );
  },
  { limits: { exec_output_bytes: MIB } },
);

/** Starts a stream and reads its beginning only. Returns a function that disconnects. */
async function openUnread(
  scene: Scene,
  protocol: Protocol,
  request: { sandbox_id: string; command: string },
): Promise<() => void> {
  if (protocol === 'rest') {
    // A client that reads lines would buffer a thousand of them.
    const { sandbox_id, command } = request;
    const body = JSON.stringify({ command });
    const answer = await scene.rest.open('POST', `/v1/sandboxes/${sandbox_id}/exec/stream`, { body });
    return () => answer.destroy();
  }
  const stream = scene.grpc.watch('ExecStream', request)[Symbol.asyncIterator]();
  await stream.next();
  return () => void stream.return?.();
}
