import { describe, expect, it } from 'vitest';
import { importFiles } from '../../handlers/files.ts';
import { call } from './call.ts';

function fake() {
  const taken: unknown[] = [];
  const sandboxes = {
    importFiles: async (request: object, content: AsyncIterable<Uint8Array>) => {
      let text = '';
      for await (const chunk of content) text += Buffer.from(chunk);
      taken.push(request, text);
      return {} as never;
    },
  };
  return { taken, sandboxes };
}

async function* stream(...items: unknown[]) {
  yield* items;
}

const HEAD = { sandbox_id: 'sb_1', as: '', path: 'a', format: 'tar' };

describe('ImportFiles', () => {
  it('takes sandbox and path from the request, and the bytes from the stream (REST)', async () => {
    const { taken, sandboxes } = fake();
    const event = {
      pathParameters: { sandbox_id: 'sb_1' },
      queryStringParameters: { path: 'a', format: 'tar' },
      stream: stream(Buffer.from('ab'), Buffer.from('c')),
    };
    await call(importFiles, event, { sandboxes });
    expect(taken).toEqual([HEAD, 'abc']);
  });

  it('takes sandbox, path and bytes from the messages (gRPC)', async () => {
    const { taken, sandboxes } = fake();
    const messages = stream({ ...HEAD, chunk: Buffer.from('a') }, { chunk: Buffer.from('b') }, { ...HEAD });
    await call(importFiles, { stream: messages }, { sandboxes });
    expect(taken).toEqual([HEAD, 'ab']);
  });

  it('refuses a first message without a sandbox, and a later message with another sandbox', async () => {
    const { taken, sandboxes } = fake();
    const refused = (...messages: object[]) =>
      expect(call(importFiles, { stream: stream(...messages) }, { sandboxes })).rejects;
    await refused().toMatchObject({ code: 'INVALID_ARGUMENT' });
    await refused({ path: 'a' }).toMatchObject({ message: expect.stringMatching(/^the first message must name/) });
    await refused(HEAD, { path: 'b' }).toMatchObject({ message: expect.stringMatching(/^path must stay/) });
    expect(taken).toEqual([]);
  });
});
