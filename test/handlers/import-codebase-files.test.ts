import { expect, it } from 'vitest';
import { importCodebaseFiles } from '../../handlers/codebase-files.ts';
import { call } from './call.ts';

function fake() {
  const taken: unknown[] = [];
  const codebases = {
    importArchive: async (id: string, mode: string, content: AsyncIterable<Uint8Array>) => {
      let text = '';
      for await (const chunk of content) text += Buffer.from(chunk);
      taken.push(id, mode, text);
      return {} as never;
    },
  };
  return { taken, codebases };
}

async function* stream(...items: unknown[]) {
  yield* items;
}

it('ImportCodebaseFiles takes the codebase and a mode, merge by default, and the bytes (REST, gRPC)', async () => {
  const { taken, codebases } = fake();
  const event = { pathParameters: { codebase_id: 'cb_1' }, stream: stream(Buffer.from('a')) };
  await call(importCodebaseFiles, event, { codebases });
  const first = { codebase_id: 'cb_1', mode: 'replace', chunk: Buffer.from('b') };
  await call(importCodebaseFiles, { stream: stream(first, { chunk: Buffer.from('c') }) }, { codebases });
  expect(taken).toEqual(['cb_1', 'merge', 'a', 'cb_1', 'replace', 'bc']);
  const other = { ...event, queryStringParameters: { mode: 'other' } };
  await expect(call(importCodebaseFiles, other, { codebases })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/^mode .*replace, merge/),
  });
});
