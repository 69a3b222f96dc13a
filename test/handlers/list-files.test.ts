import { describe, expect, it } from 'vitest';
import { listFiles } from '../../handlers/codebase-files.ts';
import type { HandlerEvent } from '../../handlers/index.ts';
import type { Codebases } from '../../lib/services.ts';
import { call } from './call.ts';
import { pages } from './lists.ts';

type Request = Parameters<Codebases['listFiles']>[1];
const answer = {
  files: [{ path: 'a', size: 1, modified_at: 2, is_dir: false, mode: 0o644, symlink_target: '' }],
  next_page_token: '',
};

async function asked(event: Partial<HandlerEvent>): Promise<Request & { id: string }> {
  const seen: (Request & { id: string })[] = [];
  const list = async (id: string, request: Request) => {
    seen.push({ id, ...request });
    return answer;
  };
  expect(await call(listFiles, event, { codebases: { listFiles: list } })).toEqual(answer);
  return seen[0]!;
}

describe('ListFiles', () => {
  it('passes on codebase, path and recursive', async () => {
    const event = {
      pathParameters: { codebase_id: 'cb_1' },
      queryStringParameters: { path: 'src', recursive: 'true' },
    };
    expect(await asked(event)).toEqual({ id: 'cb_1', path: 'src', recursive: true, page_size: 100, page_token: '' });
  });

  it('lists only the entries of the root by default', async () => {
    expect(await asked({ pathParameters: { codebase_id: 'cb_1' } })).toMatchObject({ path: '', recursive: false });
  });

  it('refuses a value of recursive that is neither true nor false', async () => {
    await expect(asked({ queryStringParameters: { recursive: 'yes' } })).rejects.toMatchObject({
      message: 'recursive must be true or false',
    });
  });

  pages(asked);
});
