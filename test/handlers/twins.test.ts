import { describe, expect, it } from 'vitest';
import { importFiles, moveFile, statFile, writeFile } from '../../handlers/files.ts';
import { operations } from '../../handlers/index.ts';
import { OPEN } from '../../lib/access/guard.ts';
import { fields, rpcs } from '../../lib/contract/schema.ts';
import { call, json, message } from './call.ts';

const path = { sandbox_id: 'sb_1' };

async function* stream(...items: unknown[]) {
  yield* items;
}

/** Services that return the request that they got. */
const given = {
  sandboxes: Object.fromEntries(
    ['moveFile', 'statFile', 'writeFile', 'importFiles'].map((name) => [
      name,
      async (request: object, content?: AsyncIterable<unknown>) => {
        for await (const _ of content ?? []);
        return request as never;
      },
    ]),
  ),
};

describe('`view` and `source`, which stand for `as` and `from`', () => {
  it('are accepted in JSON, in a query, in a message and in the first message of a stream', async () => {
    const moved = { ...path, as: 'owner', from: 'a', to: 'b', replace: false };
    const move = { view: 'owner', source: 'a', to: 'b' };
    expect(await call(moveFile, { pathParameters: path, ...json(move) }, given)).toEqual(moved);
    expect(await call(moveFile, message({ ...path, as: '', from: '', ...move }), given)).toEqual(moved);
    const query = { pathParameters: path, queryStringParameters: { path: 'a', view: 'owner' } };
    expect(await call(statFile, query, given)).toEqual({ ...path, as: 'owner', path: 'a' });
    const head = { ...path, as: '', view: 'owner', path: 'a', mode: 0 };
    const written = { ...path, as: 'owner', path: 'a', mode: 0 };
    expect(await call(writeFile, { stream: stream(head, { ...head, chunk: Buffer.from('x') }) }, given)).toEqual(
      written,
    );
    expect(await call(importFiles, { ...query, stream: stream(Buffer.alloc(1024)) }, given)).toMatchObject({
      as: 'owner',
      path: 'a',
    });
  });

  it('may repeat the value of the other name, and are refused with another one', async () => {
    const ask = (fields: object) => call(moveFile, message({ ...path, from: 'a', to: 'b', ...fields }), given);
    await expect(ask({ as: 'owner', view: 'owner', source: 'a' })).resolves.toMatchObject({ as: 'owner', from: 'a' });
    await expect(ask({ as: 'agent', view: '' })).resolves.toMatchObject({ as: 'agent' });
    await expect(ask({ as: 'agent', view: 'owner' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'view must be absent, or the same as as',
    });
    await expect(ask({ source: 'c' })).rejects.toThrow('source must be absent, or the same as from');
  });

  it('are checked like the other name', async () => {
    const ask = (fields: object) => call(moveFile, message({ ...path, to: 'b', ...fields }), given);
    await expect(ask({ view: 'root' })).rejects.toThrow('view must be agent, owner or empty');
    await expect(ask({ source: '../a' })).rejects.toThrow('source must not have "." or ".." as a component');
    await expect(ask({ source: 1 })).rejects.toThrow('source must be a string');
    await expect(ask({ nothing: 1 })).rejects.toThrow(/allowed are .*as, view, .*from, source/);
  });

  it('do not widen the access of a caller who is restricted to the rules', async () => {
    const guard = { ...OPEN, narrow: <R extends object>(request: R) => ({ ...request, as: 'agent' }) };
    const event = message({ ...path, view: 'owner', path: 'a' });
    expect(await call(statFile, event, { ...given, guard })).toEqual({ ...path, as: 'agent', path: 'a' });
  });

  it('exist wherever a request has `as` or `from`', () => {
    for (const { operation } of operations) {
      if (operation === 'Health') continue;
      const request = fields[rpcs[operation as keyof typeof rpcs].request as keyof typeof fields] ?? {};
      if ('as' in request) expect(request.as).toEqual({ type: 'string', twin: 'view' });
      if ('from' in request) expect(request.from).toEqual({ type: 'string', twin: 'source' });
    }
  });
});
