import { describe, expect, it } from 'vitest';
import { attachProcess } from '../../handlers/processes.ts';
import type { AttachInput } from '../../lib/process-services.ts';
import { call } from './call.ts';

const PROCESS = { sandbox_id: 'sb_1', process_id: 'a' };

async function* messages(...all: object[]): AsyncGenerator<unknown, void, void> {
  yield* all;
}

describe('AttachProcess', () => {
  it('makes the same call for a path with a query and for a first message, and passes later messages on', async () => {
    const seen: unknown[] = [];
    const attach = async (
      { sandbox_id, process_id, offset, takeover }: Record<string, unknown>,
      input: AttachInput,
    ) => {
      seen.push({ sandbox_id, process_id, offset, takeover });
      for await (const each of input.stdin) seen.push(each);
      for await (const each of input.controls) seen.push(each);
      return messages();
    };
    const given = { processes: { attach: attach as never } };
    const later = [{ stdin: Buffer.from('a') }, { resize: { columns: 80, rows: 24 }, signal: 'SIGINT' }];
    const query = { offset: '5', takeover: 'true' };
    await call(
      attachProcess,
      { pathParameters: PROCESS, queryStringParameters: query, stream: messages(...later) },
      given,
    );
    const first = { ...PROCESS, offset: 5, takeover: true };
    await call(
      attachProcess,
      { headers: { 'content-type': 'application/grpc' }, stream: messages(first, ...later) },
      given,
    );
    const expected = [
      first,
      { stdin: Buffer.from('a'), end_stdin: false },
      { resize: { columns: 80, rows: 24 }, signal: 'SIGINT' },
    ];
    expect(seen).toEqual([...expected, ...expected]);
  });

  it.each([
    [{ resize: { columns: 80 } }, 'resize must have columns and rows'],
    [{ resize: { columns: 80, rows: 1001 } }, 'resize.rows must be 0 or between 1 and 1000'],
    [{ signal: 'SIGFOO' }, 'signal must be'],
  ])('ends with an error for %j', async (wrong, problem) => {
    const attach = async () => new ReadableStream() as unknown as AsyncIterable<never>;
    const event = { pathParameters: PROCESS, stream: messages(wrong) };
    const output = await call(attachProcess, event, { processes: { attach: attach as never } });
    await expect(output[Symbol.asyncIterator]().next()).rejects.toThrow(problem);
  });
});
