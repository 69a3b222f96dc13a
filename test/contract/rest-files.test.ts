import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { expectError, json } from './rest-answers.ts';
import { filePath, type RawAnswer } from './rest-client.ts';
import type { Scene } from './scene.ts';
import { type Case, everywhere, onBothFormats } from './suite.ts';

const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');

const cases: Case[] = [
  {
    name: 'downloads with Content-Length and ETag, whole or a range, and answers HEAD with the same headers',
    async run(scene) {
      const { id } = await scene.codebase({ 'a.txt': 'hello' });
      const get = await scene.rest.send('GET', filePath(id, 'a.txt'));
      const head = await scene.rest.send('HEAD', filePath(id, 'a.txt'));
      expect([get.status, get.body.toString()]).toEqual([200, 'hello']);
      expect([head.status, head.body.length]).toEqual([200, 0]);
      for (const { headers } of [get, head]) {
        expect(headers).toMatchObject({
          'content-length': '5',
          etag: `"${sha256('hello')}"`,
          'accept-ranges': 'bytes',
        });
      }
      const part = await scene.rest.send('GET', filePath(id, 'a.txt'), { headers: { range: 'bytes=1-2' } });
      expect([part.status, part.headers['content-range'], part.body.toString()]).toEqual([206, 'bytes 1-2/5', 'el']);
      expect((await scene.rest.send('HEAD', filePath(id, 'absent'))).status).toBe(404);
    },
  },
  {
    name: 'accepts one file by multipart, named by its filename or by path',
    async run(scene) {
      const { id } = await scene.codebase({});
      const named = await postFiles(scene, id, [['file', 'hello', 'a.txt']]);
      expect([named.status, json(named)]).toEqual([200, { size: 5, checksum: sha256('hello') }]);
      const placed = await postFiles(scene, id, [
        ['path', 'src/b.txt'],
        ['file', 'there', 'ignored.txt'],
      ]);
      expect([placed.status, json(placed)]).toEqual([200, { size: 5, checksum: sha256('there') }]);
      const { files } = await scene.client.call('ListFiles', { codebase_id: id, recursive: true });
      expect(files.map(({ path }) => path).sort()).toEqual(['a.txt', 'src', 'src/b.txt']);
    },
  },
  {
    name: 'refuses multipart without a file, with a bad path and without a boundary',
    async run(scene) {
      const { id } = await scene.codebase({});
      expectError(await postFiles(scene, id, [['path', 'a.txt']]), 400, 3);
      expectError(
        await postFiles(scene, id, [
          ['path', '../a.txt'],
          ['file', 'x', 'a.txt'],
        ]),
        400,
        3,
      );
      const headers = { 'content-type': 'multipart/form-data' };
      expectError(await scene.rest.send('POST', `/v1/codebases/${id}/files`, { body: 'x', headers }), 400, 3);
      expect((await scene.client.call('GetCodebase', { codebase_id: id })).file_count).toBe(0);
    },
  },
  {
    name: 'refuses a percent-encoded path that leaves the codebase',
    async run(scene) {
      const { id } = await scene.codebase({ a: '' });
      for (const path of ['%2e%2e%2fa', '..%2fa', 'd%2f..%2f..%2fa', 'a%00b', '%zz', '%ff']) {
        const answer = await scene.rest.send('GET', `/v1/codebases/${id}/files/${path}`);
        expect([path, answer.status]).toEqual([path, 400]);
      }
    },
  },
  {
    name: 'removes one file; then it is NOT_FOUND',
    async run(scene) {
      const { id } = await scene.codebase({ 'd/a.txt': 'a', 'd/b.txt': 'b' });
      expect((await scene.rest.send('DELETE', filePath(id, 'd/a.txt'))).status).toBe(200);
      expectError(await scene.rest.send('DELETE', filePath(id, 'd/a.txt')), 404, 5, 'd/a.txt');
      expectError(await scene.rest.send('GET', filePath(id, 'd/a.txt')), 404, 5, 'd/a.txt');
      expect(await scene.content({ ...(await scene.codebase({})), id }, 'd/b.txt')).toBe('b');
    },
  },
];

type Part = readonly [name: string, content: string, filename?: string];

function postFiles(scene: Scene, codebaseId: string, parts: readonly Part[]): Promise<RawAnswer> {
  const body = parts
    .map(([name, content, filename]) => {
      const file = filename === undefined ? '' : `; filename="${filename}"\r\ncontent-type: text/plain`;
      return `--frontier\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`;
    })
    .concat('--frontier--\r\n')
    .join('');
  const headers = { 'content-type': 'multipart/form-data; boundary=frontier' };
  return scene.rest.send('POST', `/v1/codebases/${codebaseId}/files`, { body, headers });
}

onBothFormats('files over REST', everywhere(cases, { protocols: ['rest'] }));
