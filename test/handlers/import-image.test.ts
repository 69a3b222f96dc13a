import { describe, expect, it } from 'vitest';
import { importImage } from '../../handlers/images.ts';
import { call } from './call.ts';

function fake() {
  const taken: unknown[] = [];
  const images = {
    import: async (name: string, archive: AsyncIterable<Uint8Array>) => {
      let text = '';
      for await (const chunk of archive) text += Buffer.from(chunk);
      taken.push(name, text);
      return {} as never;
    },
  };
  return { taken, images };
}

async function* stream(...items: unknown[]) {
  yield* items;
}

describe('ImportImage', () => {
  it('takes the name from the path and the archive from the stream (REST)', async () => {
    const { taken, images } = fake();
    await call(importImage, { pathParameters: { name: 'a/b:1' }, stream: stream(Buffer.from('ab')) }, { images });
    expect(taken).toEqual(['a/b:1', 'ab']);
  });

  it('takes both from the messages (gRPC)', async () => {
    const { taken, images } = fake();
    const messages = stream({ name: 'a', chunk: Buffer.from('x') }, { name: '', chunk: Buffer.from('y') });
    await call(importImage, { stream: messages }, { images });
    expect(taken).toEqual(['a', 'xy']);
  });

  it('refuses an empty name (REST)', async () => {
    const request = { pathParameters: { name: '' }, stream: stream(Buffer.from('ab')) };
    await expect(call(importImage, request, fake())).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'name is required',
    });
  });

  it.each(['sha256:0', '-a', 'a b'])('refuses the name %j', async (name) => {
    await expect(call(importImage, { pathParameters: { name } }, fake())).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'name must be a name like python:3.12, and not a digest',
    });
  });
});
