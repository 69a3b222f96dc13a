import { describe, expect, it } from 'vitest';
import { readFile } from '../../handlers/files.ts';
import { MemoryCodebases } from '../adapters/fake-services.ts';
import { call } from './call.ts';

const event = { pathParameters: { sandbox_id: 'sb_1', path: 'a' } };

async function opened(content: Buffer) {
  const memory = new MemoryCodebases();
  const asked: unknown[] = [];
  const sandboxes = {
    readFile: async (request: object) => {
      asked.push(request);
      return memory.stored(content);
    },
  };
  const answer = await call(readFile, event, { sandboxes });
  expect(asked).toEqual([{ sandbox_id: 'sb_1', as: '', path: 'a' }]);
  return { memory, answer };
}

describe('ReadFile', () => {
  it('streams the content of one version of the file', async () => {
    const content = Buffer.alloc(600 * 1024, 'z');
    const { memory, answer } = await opened(content);
    const chunks: Uint8Array[] = [];
    for await (const { data } of answer) chunks.push(data);
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBe(512 * 1024);
    expect(memory.open_).toBe(0);
  });

  it('closes the file when the stream ends early, and when it is closed unread', async () => {
    const left = await opened(Buffer.alloc(600 * 1024));
    for await (const _ of left.answer) break;
    expect(left.memory.open_).toBe(0);
    const closed = await opened(Buffer.alloc(1));
    await closed.answer.close();
    expect(closed.memory.open_).toBe(0);
  });
});
