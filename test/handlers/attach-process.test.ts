import { describe, expect, it } from 'vitest';
import { attachProcess } from '../../handlers/processes.ts';
import { call } from './call.ts';

const PROCESS = { sandbox_id: 'sb_1', process_id: 'a' };

async function* messages(...all: object[]): AsyncGenerator<unknown, void, void> {
  yield* all;
}

describe('AttachProcess', () => {
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
