import { expect, it } from 'vitest';
import { createCodebase } from '../../handlers/codebases.ts';
import { aCodebase } from '../adapters/fake-services.ts';
import { call, json } from './call.ts';

it('CreateCodebase passes on name and owner and answers with the codebase', async () => {
  const seen: object[] = [];
  const create = async (request: { name: string; owner_id: string }) => {
    seen.push(request);
    return aCodebase;
  };
  expect(await call(createCodebase, json({ name: 'demo', owner_id: 'me' }), { codebases: { create } })).toEqual(
    aCodebase,
  );
  expect(seen).toEqual([{ name: 'demo', owner_id: 'me' }]);
});
