import { describe, expect, it } from 'vitest';
import { writeProcessInput } from '../../handlers/processes.ts';
import { call } from './call.ts';

function scene() {
  const seen: unknown[] = [];
  const write = async (request: object, content: AsyncIterable<Uint8Array>) => {
    let text = '';
    for await (const chunk of content) text += Buffer.from(chunk);
    seen.push(request, text);
    return { input_next: text.length };
  };
  return { seen, processes: { write } };
}

async function* stream(...items: unknown[]) {
  yield* items;
}

const HEAD = { sandbox_id: 'sb_1', process_id: 'a', offset: 7, end: true };

describe('WriteProcessInput', () => {
  it('takes the process from the path, offset and end from the query, and the bytes from the body (REST)', async () => {
    const { seen, processes } = scene();
    const event = {
      pathParameters: { sandbox_id: 'sb_1', process_id: 'a' },
      queryStringParameters: { offset: '7', end: 'true' },
      stream: stream(Buffer.from('ab'), Buffer.from('c')),
    };
    expect(await call(writeProcessInput, event, { processes })).toEqual({ input_next: 3 });
    expect(seen).toEqual([HEAD, 'abc']);
  });

  it('takes all of it from the messages (gRPC), and no offset if there is none', async () => {
    const { seen, processes } = scene();
    await call(writeProcessInput, { stream: stream({ ...HEAD, chunk: Buffer.from('a') }, {}) }, { processes });
    await call(writeProcessInput, { stream: stream({ sandbox_id: 'sb_1', process_id: 'a' }) }, { processes });
    expect(seen).toEqual([HEAD, 'a', { sandbox_id: 'sb_1', process_id: 'a', end: false, offset: undefined }, '']);
  });
});
