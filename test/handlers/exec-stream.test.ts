import { describe, expect, it } from 'vitest';
import { execStream } from '../../handlers/exec-stream.ts';
import type { ExecStreamChunk } from '../../lib/contract/messages.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { CommandEvent } from '../../lib/runtime/runtime.ts';
import { execution, exit, output } from '../adapters/fake-services.ts';
import { call, json } from './call.ts';

const run = (...events: (CommandEvent | Error)[]) =>
  call(execStream, json({ command: 'x' }), { sandboxes: { exec: async () => execution(...events) } });

async function collect(chunks: AsyncIterable<ExecStreamChunk>): Promise<ExecStreamChunk[]> {
  const all: ExecStreamChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

describe('ExecStream', () => {
  it('yields the bytes unchanged, and last the exit code without data', async () => {
    const bytes = Buffer.from([0xff, 0x00]);
    expect(await collect(await run(output(bytes), output('e', 'STDERR'), exit(2, 9)))).toEqual([
      { data: bytes, stream: 'STDOUT', duration_ms: 0 },
      { data: Buffer.from('e'), stream: 'STDERR', duration_ms: 0 },
      { data: new Uint8Array(0), stream: 'STDOUT', exit_code: 2, duration_ms: 9, end_reason: 'exited' },
    ]);
  });

  it('starts the command before it resolves', async () => {
    const refused = new ServiceError('FAILED_PRECONDITION', 'it is SANDBOX_STOPPED');
    await expect(
      call(execStream, json({ command: 'x' }), { sandboxes: { exec: () => Promise.reject(refused) } }),
    ).rejects.toBe(refused);
  });

  it('splits large output', async () => {
    const chunks = await collect(await run(output(Buffer.alloc(600 * 1024)), exit()));
    expect(chunks.map(({ data }) => data.length)).toEqual([256 * 1024, 256 * 1024, 88 * 1024, 0]);
  });

  it('throws the error that ends the command, after its output', async () => {
    const late = new ServiceError('DEADLINE_EXCEEDED', 'late');
    const chunks = (await run(output('a'), late))[Symbol.asyncIterator]();
    expect((await chunks.next()).done).toBe(false);
    await expect(chunks.next()).rejects.toBe(late);
  });

  it('ends the execution when its consumer stops', async () => {
    const running = execution(output('a'), output('b'), exit());
    const chunks = await call(execStream, json({ command: 'x' }), { sandboxes: { exec: async () => running } });
    for await (const _ of chunks) break;
    expect(await running[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });
});
