import { describe, expect, it } from 'vitest';
import { exportChanges } from '../../handlers/changes.ts';
import { call } from './call.ts';

async function exported(parts: Uint8Array[]) {
  const seen: unknown[] = [];
  const stream = async (...args: unknown[]) => {
    seen.push(args);
    return {
      contentType: 'text/x-diff',
      async *[Symbol.asyncIterator]() {
        yield* parts;
      },
    };
  };
  const event = {
    pathParameters: { sandbox_id: 'sb_1' },
    queryStringParameters: { format: 'patch', as: 'agent', include_scratch: 'true' },
  };
  const result = await call(exportChanges, event, { sandboxes: { exportChanges: stream } });
  const choice = { paths: [], exclude: [], include_scratch: true };
  expect(seen).toEqual([['sb_1', 'patch', 'agent', choice, expect.any(AbortSignal)]]);
  const messages: { data: Uint8Array }[] = [];
  for await (const message of result) messages.push(message);
  return { contentType: result.contentType, messages };
}

describe('ExportChanges', () => {
  it('streams the bytes as messages, with their content type', async () => {
    const { contentType, messages } = await exported([Buffer.from('a'), Buffer.from('b')]);
    expect(contentType).toBe('text/x-diff');
    expect(messages).toEqual([{ data: Buffer.from('a') }, { data: Buffer.from('b') }]);
  });

  it('splits bytes above the maximum size of a message', async () => {
    const { messages } = await exported([Buffer.alloc(600 * 1024)]);
    expect(messages.map(({ data }) => data.length)).toEqual([262144, 262144, 90112]);
  });
});
