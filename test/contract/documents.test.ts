import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ForkResponse } from '../../lib/contract/messages.ts';
import { directoryOfFile } from '../directory.ts';
import { busybox, tarOf } from '../lib/images/archives.ts';
import { expectError, json } from './rest-answers.ts';
import { type RawAnswer, RestClient } from './rest-client.ts';
import { serverOfFile } from './use-server.ts';

interface Operation {
  operationId: string;
  'x-codeSamples': { source: string }[];
}

const KEY = `pdk_operator_${'a'.repeat(43)}`;
const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> };
const lines = new Map(
  Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((each) => [each.operationId, each['x-codeSamples'][0]?.source ?? '']),
  ),
);

const served = serverOfFile({ config: { auth: { mode: 'keys' } }, env: { PADDOCK_ADMIN_KEY: KEY } });
let anybody: RestClient;
let admin: RestClient;
const directory = directoryOfFile();

beforeAll(async () => {
  anybody = new RestClient(served.server.httpAddress);
  admin = new RestClient(served.server.httpAddress, KEY);
});

afterAll(async () => {
  anybody?.close();
  admin?.close();
});

describe('/openapi.json and /docs', () => {
  const get = (path: string, headers = {}): Promise<RawAnswer> => anybody.send('GET', path, { headers });

  it('are served to everybody, to a browser as gzip, and not again to one that has them', async () => {
    for (const path of ['/openapi.json', '/docs']) {
      const plain = await get(path);
      const { etag = '', ...headers } = plain.headers;
      expect(headers).toMatchObject({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' });
      const zipped = await get(path, { 'accept-encoding': 'gzip, br' });
      expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', etag });
      expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
      expect(await get(path, { 'if-none-match': etag })).toMatchObject({ status: 304, body: Buffer.alloc(0) });
      const head = await anybody.send('HEAD', path);
      expect([head.status, head.headers['content-length']]).toEqual([200, String(plain.body.length)]);
    }
  });

  it('refuse other methods and other hosts', async () => {
    expectError(await anybody.send('POST', '/docs', { body: '' }), 405, 12, /this path has GET, HEAD/);
    expectError(await get('/openapi.json', { host: 'evil.example' }), 403, 7, /server.allowed_hosts/);
  });

  it('the document is that of the repository', async () => {
    const answer = await get('/openapi.json');
    expect(answer.headers['content-type']).toBe('application/json');
    expect(json(answer)).toEqual(document);
  });

  it('the page has every operation, and its policy permits its own style and script only', async () => {
    const { headers, body } = await get('/docs');
    const page = body.toString();
    for (const id of lines.keys()) expect(page).toContain(`id="${id}"`);
    const hashes = ['style', 'script'].map((name) => {
      const [, inner = ''] = new RegExp(`<${name}>([^]*?)</${name}>`).exec(page) ?? [];
      return `${name}-src 'sha256-${createHash('sha256').update(inner).digest('base64')}'`;
    });
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; /);
    for (const hash of hashes) expect(headers['content-security-policy']).toContain(hash);
    // Nothing is loaded from elsewhere, and no attribute needs a looser policy.
    expect(page).not.toMatch(/<[a-z][^>]*\s(src|style|on\w+)=|<link[^>]*href="(?!data:)|@import|url\(/);
  });
});

type Step = string | readonly [id: string, variable: string, ...field: string[]];

/** Operations that make what the others need; the variable that an answer sets, by its field. */
const FIRST: readonly Step[] = [
  ...['SetOwnerLimits', 'PutSecret'],
  ...([['CreateKey', 'KEY_ID', 'key', 'id'], ['CreateCodebase', 'CODEBASE', 'id'], 'UploadFile'] as const),
  ...(['ImportCodebaseFiles', 'ImportImage', ['CreateSandbox', 'SANDBOX', 'id'], 'WriteFile'] as const),
  ...(['OpenPort', ['StartProcess', 'PROCESS', 'process_id'], ['CreateSession', 'SESSION', 'id']] as const),
];

/** Operations that end what the others need. */
const LAST: readonly Step[] = [
  ...['DeleteSecret', 'RevokeKey', 'ClosePort', 'SignalProcess', 'WatchProcess', 'AttachProcess', 'DeleteProcess'],
  ...['DestroySession', 'Commit', 'CreateCheckpoint', 'ListCheckpoints', 'DeleteFile', 'MoveFile', 'Rollback'],
  ...['DeleteCheckpoint', 'Discard', 'UpdatePermissions', 'UpdateNetwork', 'WatchNetwork', 'StopSandbox'],
  ...['StartSandbox', 'Fork', 'DestroySandbox', 'DeleteImage', 'RemoveFile', 'DeleteCodebase'],
];

/** All operations, in an order in which each finds what it needs. */
function inOrder(): readonly Step[] {
  const named = new Set([...FIRST, ...LAST].map((each) => [each].flat()[0]));
  return [...FIRST, ...[...lines.keys()].filter((id) => !named.has(id)), ...LAST];
}

it('every curl line of /docs works', async () => {
  await writeFile(join(directory, 'main.py'), 'print("hello")\n');
  await writeFile(join(directory, 'input.txt'), 'one line\n');
  await writeFile(join(directory, 'files.tar'), tarOf([{ name: 'LICENSE', content: 'MIT\n' }]));
  await writeFile(join(directory, 'image.tar'), tarOf(busybox()));
  const env: Record<string, string> = { PATH: process.env.PATH ?? '', B: served.url, KEY };
  for (const each of inOrder()) {
    const [id = '', variable, ...path] = [each].flat();
    const { status, body } = await run(lines.get(id) ?? '', env);
    expect(`${id}: ${status} ${status.startsWith('2') ? '' : body}`).toBe(
      `${id}: ${id === 'AttachProcess' ? `101 ${body}` : '200 '}`,
    );
    if (variable) env[variable] = path.reduce((value, name) => value[name], JSON.parse(body));
    if (id === 'Fork') await destroyAll(JSON.parse(body) as ForkResponse);
  }
});

/** Runs a line in a shell, as a person would. The WebSocket stays open until curl's own limit. */
async function run(line: string, env: Record<string, string>): Promise<{ status: string; body: string }> {
  const script = line.replace('curl -sS', "curl -sS -w '%{stderr}\\n%{http_code}'");
  const options = { cwd: directory, env, encoding: 'utf8' } as const;
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], options).catch((error) => error);
  return { status: /\d{3}$/m.exec(stderr)?.[0] ?? `no status: ${stderr}`, body: stdout };
}

async function destroyAll({ results }: ForkResponse): Promise<void> {
  for (const { sandbox } of results) await admin.call('DestroySandbox', { sandbox_id: sandbox!.id });
}
