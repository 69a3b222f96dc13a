import { describe, expect, it } from 'vitest';
import { downloadFile } from '../../handlers/codebase-files.ts';
import { MemoryCodebases } from '../adapters/fake-services.ts';
import { call } from './call.ts';

const event = { pathParameters: { codebase_id: 'cb_1', file_path: 'a' } };

async function download(content: Buffer) {
  const memory = new MemoryCodebases();
  memory.files.set('cb_1/a', content);
  return { memory, answer: await call(downloadFile, event, { codebases: memory.services }) };
}

describe('DownloadFile', () => {
  it('streams the content of one version of the file', async () => {
    const content = Buffer.alloc(600 * 1024, 'z');
    const { memory, answer } = await download(content);
    expect(answer.file.size).toBe(content.length);
    const chunks: Uint8Array[] = [];
    for await (const { data } of answer) chunks.push(data);
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBe(512 * 1024);
    expect(memory.open_).toBe(0);
  });

  it('closes the file when the stream ends early, and when it is closed unread', async () => {
    const left = await download(Buffer.alloc(600 * 1024));
    for await (const _ of left.answer) break;
    expect(left.memory.open_).toBe(0);
    const closed = await download(Buffer.alloc(1));
    await closed.answer.close();
    expect(closed.memory.open_).toBe(0);
  });

  it('throws NOT_FOUND before the first message', async () => {
    const { services } = new MemoryCodebases();
    await expect(call(downloadFile, event, { codebases: services })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
