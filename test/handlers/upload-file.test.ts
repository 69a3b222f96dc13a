import { describe, expect, it } from 'vitest';
import { uploadFile } from '../../handlers/codebase-files.ts';
import { MemoryCodebases } from '../adapters/fake-services.ts';
import { call } from './call.ts';

async function* of(...items: (object | Error)[]) {
  for (const item of items) {
    if (item instanceof Error) throw item;
    yield item;
  }
}
const bytes = (text: string) => Buffer.from(text);

describe('UploadFile', () => {
  it.each([
    [{ file_path: '..' }, 'file_path must not have "." or ".." as a component'],
    [{ mode: 0o4755 }, 'mode must be between 0 and 511 (0777 in octal)'],
    [{ name: 'a' }, 'name is not a known field'],
    [{ codebase_id: 'cb_2' }, 'codebase_id must stay empty, or the same as in the first message'],
  ])('checks the fields of a later message like those of the first: %j', async (later, problem) => {
    const { services, files } = new MemoryCodebases();
    const stream = of({ codebase_id: 'cb_1', file_path: 'a' }, { ...later, chunk: bytes('x') });
    await expect(call(uploadFile, { stream }, { codebases: services })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(problem),
    });
    expect(files.size).toBe(0);
  });
});
