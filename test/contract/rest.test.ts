import { expect } from 'vitest';
import { expectError, json } from './rest-answers.ts';
import { type ErrorBody, filePath } from './rest-client.ts';
import { EVERYTHING } from './rules.ts';
import { eventually } from './scene.ts';
import { type Case, contract, everywhere, REAL } from './suite.ts';

const shape: Case[] = [
  {
    name: 'answers GET /health',
    async run({ rest }) {
      const answer = await rest.send('GET', '/health');
      expect([answer.status, json(answer)]).toEqual([200, { status: 'ok' }]);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
    },
  },
  {
    name: 'returns errors with code, message, details and the corresponding status',
    async run(scene) {
      const { rest } = scene;
      const codebase = await scene.codebase({});
      const sandbox = await scene.sandbox(codebase);
      expectError(await rest.send('GET', '/v1/sandboxes/sb_absent'), 404, 5, 'sb_absent');
      expectError(await rest.json('POST', `/v1/sandboxes/${sandbox.id}/exec`, { command: '' }), 400, 3);
      expectError(await rest.send('DELETE', `/v1/codebases/${codebase.id}`), 400, 9, sandbox.id);
    },
  },
  {
    name: 'returns the error body for an unknown route and for a method that a route does not have',
    async run({ rest }) {
      for (const [method, path] of [
        ['GET', '/'],
        ['GET', '/v1/nothing'],
        ['GET', '/v1/sandboxes/sb_x/exec'],
        ['PATCH', '/v1/sandboxes'],
        ['POST', '/health'],
      ] as const) {
        const answer = await rest.send(method, path);
        expect([method, path, [404, 405, 501].includes(answer.status)]).toEqual([method, path, true]);
        expect(json<ErrorBody>(answer).message).toMatch(
          new RegExp(`^there is no ${method} ${path}(; this path has [A-Z, ]+)?$`),
        );
      }
    },
  },
  {
    name: 'refuses unknown fields by name, also inside a rule',
    async run(scene) {
      const { rest } = scene;
      const codebase_id = (await scene.codebase({})).id;
      const rule = { pattern: '**', permision: 'PERMISSION_READ' };
      expectError(await rest.json('POST', '/v1/sandboxes', { codebase_id, extra: 1 }), 400, 3, 'extra');
      expectError(await rest.json('POST', '/v1/sandboxes', { codebase_id, permissions: [rule] }), 400, 3, 'permision');
      expectError(await rest.send('GET', '/v1/sandboxes?codebase=x'), 400, 3, 'codebase');
      expectError(await rest.json('POST', '/v1/codebases', { name: 'x', owner: 'y' }), 400, 3, 'owner');
    },
  },
  {
    name: 'refuses bodies that are not a JSON object, and fields of another type',
    async run({ rest }) {
      const headers = { 'content-type': 'application/json' };
      for (const body of ['{', '[]', '"x"', 'null', '12', '', '{"name":1}', '{"name":{}}']) {
        const answer = await rest.send('POST', '/v1/codebases', { body, headers });
        expect([body, answer.status, json<ErrorBody>(answer).code]).toEqual([body, 400, 3]);
      }
    },
  },
  {
    name: 'reads enums by name and number, and int64 as number and decimal string',
    async run(scene) {
      const codebase_id = (await scene.codebase({})).id;
      const permissions = [
        { pattern: 'a', permission: 2, type: 2, priority: '7' },
        { pattern: 'b/**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: -1 },
        { pattern: 'c' },
      ];
      const resources = { memory_bytes: '1073741824', pids_limit: 100 };
      const answer = await scene.rest.json('POST', '/v1/sandboxes', {
        codebase_id,
        permissions,
        resources,
        expires_in: '60',
      });
      expect(answer.status).toBe(200);
      const sandbox = json<Record<string, unknown>>(answer);
      expect(sandbox.permissions).toEqual([
        { pattern: 'a', permission: 'PERMISSION_READ', type: 'PATTERN_FILE', priority: 7 },
        { pattern: 'b/**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: -1 },
        { pattern: 'c', permission: 'PERMISSION_NONE', type: 'PATTERN_GLOB', priority: 0 },
      ]);
      expect(sandbox).toMatchObject({
        resources: { memory_bytes: 1073741824, pids_limit: 100 },
        status: 'SANDBOX_RUNNING',
      });
      expect(sandbox.expires_at).toBe((sandbox.created_at as number) + 60);
      expect((await scene.rest.send('DELETE', `/v1/sandboxes/${sandbox.id}`)).status).toBe(200);
    },
  },
  {
    name: 'refuses values that are not of the enum, number or map type of their field',
    async run(scene) {
      const codebase_id = (await scene.codebase({})).id;
      const create = (more: object) => scene.rest.json('POST', '/v1/sandboxes', { codebase_id, ...more });
      for (const [field, more] of [
        ['permission', { permissions: [{ pattern: 'a', permission: 'READ' }] }],
        ['permission', { permissions: [{ pattern: 'a', permission: 9 }] }],
        ['priority', { permissions: [{ pattern: 'a', priority: 2 ** 31 }] }],
        ['priority', { permissions: [{ pattern: 'a', priority: 1.5 }] }],
        ['expires_in', { expires_in: 'soon' }],
        ['labels', { labels: { a: 1 } }],
        ['runtime', { runtime: 'bwrap' }],
      ] as const) {
        expectError(await create(more), 400, 3, field);
      }
    },
  },
  {
    name: 'refuses a __proto__ key',
    async run({ rest }) {
      const headers = { 'content-type': 'application/json' };
      const body = '{"name":"x","owner_id":"y","__proto__":{"a":1}}';
      expectError(await rest.send('POST', '/v1/codebases', { body, headers }), 400, 3, '__proto__');
    },
  },
];

const streams: Case[] = [
  {
    name: 'streams Exec as lines of JSON, or as server-sent events if requested',
    runtimes: REAL,
    async run(scene) {
      const sandbox = await scene.sandboxOn({}, EVERYTHING);
      const path = `/v1/sandboxes/${sandbox.id}/exec/stream`;
      const body = '{"command":"echo hi"}';
      const lines = await scene.rest.send('POST', path, { body, headers: { 'content-type': 'application/json' } });
      expect(lines.headers['content-type']).toMatch(/^application\/x-ndjson/);
      const chunks = lines.body
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(chunks[0]).toMatchObject({ data: Buffer.from('hi\n').toString('base64'), stream: 'STDOUT' });
      expect(chunks.at(-1)).toMatchObject({ exit_code: 0 });

      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
      const events = await scene.rest.send('POST', path, { body, headers });
      expect(events.headers['content-type']).toMatch(/^text\/event-stream/);
      const data = [...events.body.toString().matchAll(/^data: ?(.*)$/gm)].map(([, text = '']) => JSON.parse(text));
      expect(data[0]).toMatchObject({ data: Buffer.from('hi\n').toString('base64'), stream: 'STDOUT' });
      expect(data.at(-1)).toMatchObject({ exit_code: 0 });
    },
  },
  {
    name: 'streams much output of Exec to the end, in each form',
    runtimes: REAL,
    async run(scene) {
      const { id } = await scene.sandboxOn({});
      const url = `http://${scene.server.httpAddress}/v1/sandboxes/${id}/exec/stream`;
      const body = JSON.stringify({ command: 'head -c 3000000 /dev/zero' });
      for (const accept of ['application/x-ndjson', 'text/event-stream', 'application/octet-stream']) {
        const headers = { accept, 'content-type': 'application/json' };
        const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(60_000) });
        expect((await answer.arrayBuffer()).byteLength, accept).toBeGreaterThan(3_000_000);
      }
    },
  },
  {
    name: 'serves others after clients disconnect during any call',
    runtimes: REAL,
    async run(scene) {
      const sandbox = await scene.sandboxOn({ f: 'x'.repeat(1_000_000) });
      const path = `/v1/sandboxes/${sandbox.id}/exec/stream`;
      for (let round = 0; round < 10; round++) {
        const stream = await scene.rest.open('POST', path, {
          body: '{"command":"yes"}',
          headers: { 'content-type': 'application/json' },
        });
        stream.destroy();
        const download = await scene.rest.open('GET', filePath(sandbox.codebase_id, 'f'), {});
        download.destroy();
      }
      await eventually(
        'the end of every yes',
        async () => (await scene.output(sandbox, 'grep -la "^ye[s]" /proc/[0-9]*/cmdline 2>/dev/null || true')) === '',
      );
    },
  },
];

contract('REST', everywhere([...shape, ...streams], { protocols: ['rest'] }));
