import { describe, expect, it } from 'vitest';
import { uploadFile } from '../../handlers/codebase-files.ts';
import { defineUpload } from '../../handlers/define.ts';
import { MemoryCodebases, sha256 } from '../adapters/fake-services.ts';
import { call } from './call.ts';

async function* of(...items: (object | Error)[]) {
  for (const item of items) {
    if (item instanceof Error) throw item;
    yield item;
  }
}
const bytes = (text: string) => Buffer.from(text);
const inPath = { pathParameters: { codebase_id: 'cb_1', file_path: 'a' } };

describe('UploadFile', () => {
  it('stores the bytes of a stream under the path of the request', async () => {
    const { services, files } = new MemoryCodebases();
    const answer = await call(
      uploadFile,
      { ...inPath, stream: of(bytes('he'), bytes('llo')) },
      { codebases: services },
    );
    expect(answer).toEqual({ size: 5, checksum: sha256(bytes('hello')) });
    expect(files.get('cb_1/a')?.toString()).toBe('hello');
  });

  it('stores the chunks of messages under the path of the first', async () => {
    const { services, files, modes } = new MemoryCodebases();
    const head = { codebase_id: 'cb_1', file_path: 'a', chunk: bytes('x'), mode: 0o755 };
    await call(uploadFile, { stream: of(head, { chunk: bytes('y') }) }, { codebases: services });
    expect(files.get('cb_1/a')?.toString()).toBe('xy');
    expect(modes.get('cb_1/a')).toBe(0o755);
  });

  it('stores an empty file if there is no content', async () => {
    const { services, files } = new MemoryCodebases();
    await call(uploadFile, inPath, { codebases: services });
    expect(files.get('cb_1/a')?.length).toBe(0);
  });

  it('stores nothing when the stream breaks', async () => {
    const { services, files } = new MemoryCodebases();
    const broken = new Error('reset');
    const event = { ...inPath, stream: of(bytes('he'), broken) };
    await expect(call(uploadFile, event, { codebases: services })).rejects.toBe(broken);
    expect(files.size).toBe(0);
  });

  it('refuses a mode with bits other than permission bits', async () => {
    const { services } = new MemoryCodebases();
    const event = { ...inPath, queryStringParameters: { mode: String(0o4755) } };
    await expect(call(uploadFile, event, { codebases: services })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

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

  it('refuses a first message without a required field', async () => {
    const handler = defineUpload(
      { ...uploadFile, rpc: 'WriteFile', kind: 'raw', constraints: { path: { required: true } } },
      () => 'stored',
    );
    await expect(call(handler, { stream: of({ sandbox_id: 'sb_1' }) }, {})).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'path is required',
    });
  });
});
