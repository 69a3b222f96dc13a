import { expect, it } from 'vitest';
import { CODES } from '../../lib/errors.ts';
import { EVERYTHING } from '../contract/rules.ts';
import { expectRefusal } from '../contract/scene.ts';
import { attacks } from './suite.ts';

const HOSTILE = [
  '--help',
  '-v',
  '; touch /tmp/owned #',
  '$(touch /tmp/owned)',
  '`touch /tmp/owned`',
  "'; touch /tmp/owned; '",
  '"; touch /tmp/owned; "',
  'a\nb\ntouch /tmp/owned\n',
  '\r\nx-injected: 1',
  '../../../../etc',
  '/etc/../../..',
  '\u001b[2J',
  '\u202e',
  '%s%n%x',
  '{{7*7}}',
  '__proto__',
  'constructor',
];
const LARGE = 'x'.repeat(1_000_000);
const REFUSALS = [400, 404, 409, 429];

attacks(
  'requests',
  (target) => {
    it('48: no text of a request is used as an option, a command or a path of the host', async () => {
      const { scene } = target;
      const sandbox = await scene.sandboxOn({ 'a.txt': 'a' });
      for (const text of HOSTILE) {
        const env = { X: text, LD_LIBRARY_PATH: text };
        const answer = await scene.run(sandbox, 'printf %s "$X"; test -e /tmp/owned && echo OWNED; :', {
          env,
          stdin: text,
        });
        expect(answer.stdout).toBe(text);
        // As a working directory: refused, or a directory in the sandbox.
        await scene
          .run(sandbox, 'test -e /tmp/owned && echo OWNED; test -e /etc/shadow && echo HOST; :', { workdir: text })
          .then(
            ({ stdout }) => expect(stdout).toBe(''),
            (error) => expect(error.code).toBe('INVALID_ARGUMENT'),
          );
        // As a command: it affects the sandbox only.
        await scene.run(sandbox, text, { timeout: 5 });
        await scene.output(sandbox, 'rm -f /tmp/owned');
      }
    });

    it('48: variables that affect the start of programs apply in the sandbox only', async () => {
      const { scene, server } = target;
      const sandbox = await scene.sandboxOn({});
      const names = [
        'LD_PRELOAD',
        'LD_AUDIT',
        'ENV',
        'BASH_ENV',
        'PYTHONSTARTUP',
        'NODE_OPTIONS',
        'PATH',
        'IFS',
        'PS4',
        'PWD',
      ];
      for (const name of names) {
        await scene.run(sandbox, 'true', { env: { [name]: '/workspace/x' } });
        expect(await scene.output(sandbox, 'echo sane')).toBe('sane\n');
      }
      expect(server.log.filter((line) => line.includes('preload'))).toEqual([]);
    });

    it.each([
      ['a name with =', { 'A=B': 'x' }],
      ['an empty name', { '': 'x' }],
      ['NUL in a value', { A: 'a\0b' }],
      ['NUL in a name', { 'A\0': 'x' }],
      ['1 MB', { A: LARGE }],
      [
        '2 MB in all',
        Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`A${index}`, LARGE.slice(0, 100_000)])),
      ],
    ])('48: an environment with %s is refused', async (_, env) => {
      const sandbox = await target.scene.sandboxOn({});
      await expectRefusal(target.scene.run(sandbox, 'true', { env }), 'INVALID_ARGUMENT', 'env');
    });

    it('48: invalid labels, owners, names and images are refused', async () => {
      const { scene } = target;
      const codebase = await scene.codebase({});
      for (const text of HOSTILE) {
        const labels = { [text]: text };
        const sandbox = await scene.sandbox(codebase, EVERYTHING, { labels });
        expect(sandbox.labels).toEqual(labels);
        await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
        await expectRefusal(scene.sandbox(codebase, EVERYTHING, { image: text }), 'INVALID_ARGUMENT', 'image');
      }
      await expectRefusal(scene.sandbox(codebase, EVERYTHING, { labels: { a: LARGE } }), 'INVALID_ARGUMENT', 'labels');
    });

    it.each([
      '..',
      '%2e%2e',
      '..%2f..%2fetc',
      'sb_%00',
      '%2f',
      'sb_*',
      '__proto__',
      "sb_'--",
      `sb_${'a'.repeat(5000)}`,
    ])('31: the identifier %s is not found', async (id) => {
      const { scene } = target;
      for (const path of [`/v1/sandboxes/${id}`, `/v1/codebases/${id}`, `/v1/codebases/${id}/files/a`]) {
        for (const method of ['GET', 'DELETE'])
          expect(REFUSALS).toContain((await scene.rest.send(method, path)).status);
      }
      const exec = await scene.rest.json('POST', `/v1/sandboxes/${id}/exec`, { command: 'true' });
      expect([...REFUSALS, 405]).toContain(exec.status);
    });

    it.each([
      '../x',
      'a/../../x',
      '..',
      '.',
      'a//b',
      '',
      'a\0b',
      'a/./b',
      `${'n'.repeat(256)}`,
      `${'d/'.repeat(3000)}x`,
    ])('31: the file path %j is refused over both protocols', async (path) => {
      const { scene } = target;
      const codebase = await scene.codebase({});
      await expectRefusal(scene.grpc.upload(codebase.id, path, 'x'), 'INVALID_ARGUMENT');
      const url = `/v1/codebases/${codebase.id}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
      expect([400, 404, 405]).toContain((await scene.rest.send('PUT', url, { body: 'x' })).status);
      expect((await scene.client.call('ListFiles', { codebase_id: codebase.id, recursive: true })).files).toEqual([]);
    });

    it('53: no JavaScript property is accessible by a field name', async () => {
      const { scene } = target;
      const codebase = await scene.codebase({});
      const bodies = [
        '{"__proto__":{"status":"owned","code":0}}',
        '{"constructor":{"prototype":{"status":"owned"}}}',
        `{"codebase_id":"${codebase.id}","labels":{"__proto__":"owned"}}`,
        `{"codebase_id":"${codebase.id}","permissions":[{"__proto__":{"permission":"PERMISSION_WRITE"}}]}`,
        `{"codebase_id":"${codebase.id}","resources":{"__proto__":{"pids_limit":1}}}`,
      ];
      const headers = { 'content-type': 'application/json' };
      for (const body of bodies) {
        const answer = await scene.rest.send('POST', '/v1/sandboxes', { body, headers });
        const { id } = JSON.parse(answer.body.toString()) as { id?: string };
        if (id) await scene.client.call('DestroySandbox', { sandbox_id: id });
        else expect(answer.status).toBe(400);
        expect((await scene.rest.send('GET', '/health')).body.toString()).toBe('{"status":"ok"}');
      }
    });

    it.each([
      ['5 MiB of text', () => `{"command":"${'x'.repeat(5 * 1024 * 1024)}"}`],
      ['nesting', () => `${'['.repeat(500_000)}${']'.repeat(500_000)}`],
      ['a million values', () => `{"labels":{},"permissions":[${'{},'.repeat(1_000_000)}{}]}`],
      ['a million names', () => `{${Array.from({ length: 600_000 }, (_, index) => `"a${index}":0`).join(',')}}`],
      ['a number out of range', () => '{"command":"true","timeout":1e400}'],
      ['half a document', () => '{"command":"tr'],
      ['bytes', () => '\0\0\0\0'],
      ['a list', () => '[]'],
      ['null', () => 'null'],
    ])('53: a body of %s is refused quickly', async (_, body) => {
      const { scene, server } = target;
      const sandbox = await scene.sandboxOn({});
      const before = server.rss();
      const answer = await scene.rest.send('POST', `/v1/sandboxes/${sandbox.id}/exec`, { body: body() });
      expect([400, 413]).toContain(answer.status);
      expect(JSON.parse(answer.body.toString())).toMatchObject({ code: CODES.INVALID_ARGUMENT.grpc });
      expect(server.rss() - before).toBeLessThan(300 * 1024 * 1024);
    });

    it('53: a million repeated fields over gRPC cost no more than their bytes', async () => {
      const { scene } = target;
      const codebase = await scene.codebase({});
      const permissions = Array.from({ length: 600_000 }, () => ({}));
      await expectRefusal(
        scene.grpc.call('CreateSandbox', { codebase_id: codebase.id, permissions }),
        'INVALID_ARGUMENT',
      );
      expect((await scene.rest.send('GET', '/health')).status).toBe(200);
    });

    it('59: for any request each log entry is one line of JSON without control characters, and contains no content', async () => {
      const { scene, server } = target;
      const secret = 'content-7b21f0';
      const codebase = await scene.codebase({ 'a\u001b[31m\nb.txt': secret });
      const sandbox = await scene.sandbox(codebase, EVERYTHING, {
        labels: { 'a\n{"msg":"ready"}': '\u001b]0;x\u0007' },
      });
      await scene.run(sandbox, `echo ${secret}; exit 3`, { env: { TOKEN: secret }, stdin: secret });
      await scene.rest.send('GET', '/v1/sandboxes/%0a%1b%5b31m%7b%22msg%22%3a%22ready%22%7d');
      await scene.rest.send('GET', '/v1/nothing', { headers: { 'x-request-id': 'a {"msg":"ready"}' } });
      await expectRefusal(scene.grpc.call('GetSandbox', { sandbox_id: 'a\n\u001b[31m{"msg":"ready"}' }), 'NOT_FOUND');
      await expectRefusal(scene.run(sandbox, 'true', { workdir: `/${secret}\n\u001b` }), 'INVALID_ARGUMENT');
      for (const line of server.log) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for.
        expect(line).not.toMatch(/[\x00-\x1f\x7f\u0085\u2028]/);
        expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) });
        expect(line).not.toContain(secret);
      }
      expect(server.log.filter((line) => JSON.parse(line).msg === 'ready').length).toBe(1);
    });
  },
  { logging: { level: 'debug' }, sandbox: { max_per_user: 0 } },
);
