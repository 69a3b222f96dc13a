import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { credentialsOf } from '../../../clients/cli/src/image/credentials.ts';
import { referenceOf } from '../../../clients/cli/src/image/reference.ts';
import { directoryOfFile, put } from '../../directory.ts';
import { busybox, sha256, tarOf } from '../../lib/images/archives.ts';
import { servedOnce } from '../typescript/served.ts';
import { cli } from './cli.ts';

const served = servedOnce();
const ARCH = process.arch === 'arm64' ? 'arm64' : 'amd64';
const LOGIN = Buffer.from('ann:secret').toString('base64');
let registry: Server;
let host: string;
const home = directoryOfFile();
/** Bytes by digest, which a registry that lies changes. */
const blobs = new Map<string, Buffer>();
const seen: string[] = [];

function add(bytes: Buffer | string) {
  const digest = `sha256:${sha256(bytes)}`;
  blobs.set(digest, Buffer.from(bytes));
  return { digest, size: Buffer.byteLength(bytes) };
}

function imageFor(architecture: string, layers: readonly Buffer[]) {
  const diff_ids = layers.map((each) => `sha256:${sha256(each)}`);
  const config = add(JSON.stringify({ os: 'linux', architecture, config: {}, rootfs: { type: 'layers', diff_ids } }));
  const all = layers.map((each) => add(gzipSync(each)));
  const manifest = add(JSON.stringify({ schemaVersion: 2, config, layers: all }));
  return { manifest: { ...manifest, platform: { os: 'linux', architecture } }, layers: all, config };
}

const SYSTEM = tarOf(busybox([{ name: 'opt/mark', content: 'pulled' }]));
const image = imageFor(ARCH, [SYSTEM, tarOf([{ name: 'opt/more', content: 'x' }])]);
const index = add(JSON.stringify({ schemaVersion: 2, manifests: [imageFor('s390x', []).manifest, image.manifest] }));
const original = new Map(blobs);

/** A registry whose repository "private/app" needs a token, as those of the distribution API have it. */
function answer({ url = '', headers }: IncomingMessage, out: ServerResponse): void {
  seen.push(`${url} ${headers.authorization ?? ''}`.trim());
  const { pathname } = new URL(url, 'http://x');
  if (pathname === '/token') {
    const isKnown = headers.authorization === `Basic ${LOGIN}`;
    out.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ token: 'a-token' }));
    return;
  }
  if (pathname.startsWith('/v2/private/') && headers.authorization !== 'Bearer a-token') {
    const realm = `Bearer realm="http://${host}/token",service="registry",scope="repository:private/app:pull"`;
    out.writeHead(401, { 'www-authenticate': realm }).end();
    return;
  }
  const [, what, name = ''] = /^\/v2\/(?:private|team)\/app\/(manifests|blobs)\/(.+)$/.exec(pathname) ?? [];
  const found = blobs.get(what === 'manifests' && name === '1' ? index.digest : name);
  out.writeHead(found ? 200 : 404).end(found);
}

beforeAll(async () => {
  registry = createServer(answer).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
  await writeFile(join(home, 'config.json'), JSON.stringify({ auths: { [host]: { auth: LOGIN } } }));
});
afterAll(async () => {
  registry.close();
});
beforeEach(() => {
  seen.splice(0);
  for (const [digest, bytes] of original) blobs.set(digest, bytes);
});

const paddock = (...args: string[]) => cli(args, { url: served.url });
const names = async () => (await paddock('image', 'ls')).stdout;

it('an image of a registry is pulled for the machine, and a sandbox runs on it', async () => {
  const { code, stdout, stderr } = await paddock('image', 'pull', `${host}/team/app:1`, 'app:1');
  expect([code, stdout, stderr]).toEqual([0, `app:1 ${image.config.digest}\n`, '']);
  expect(await names()).toContain('app:1 ');
  const ran = await paddock('run', '--image', 'app:1', '--', 'cat', '/opt/mark', '/opt/more');
  expect([ran.code, ran.stdout]).toEqual([0, 'pulledx']);
  expect((await paddock('image', 'rm', 'app:1')).stdout).toBe('app:1\n');
  expect(await names()).not.toContain('app:1');
});

it('a private repository is read with a token for what docker login has stored', async () => {
  const refused = await paddock('image', 'pull', `${host}/private/app:1`);
  expect(refused.stderr).toBe(`paddock: the registry ${host} refuses private/app: docker login ${host}\n`);
  const env = { DOCKER_CONFIG: home };
  const { code } = await cli(['image', 'pull', `${host}/private/app:1`, 'own'], { url: served.url, env });
  expect(code).toBe(0);
  expect(seen).toContain(`/token?service=registry&scope=repository%3Aprivate%2Fapp%3Apull Basic ${LOGIN}`);
  // The password goes nowhere else.
  expect(seen.filter((each) => each.includes('Basic') && !each.startsWith('/token'))).toEqual([]);
  await paddock('image', 'rm', 'own');
});

it.each([
  ['a layer', () => image.layers[1]!.digest, /something else in place of the layer sha256:/],
  ['a layer that is cut', () => image.layers[0]!.digest, /something else in place of the layer sha256:/],
  ['the configuration', () => image.config.digest, /answers with sha256:\w+ in place of sha256:/],
  ['the manifest', () => image.manifest.digest, /answers with sha256:\w+ in place of sha256:/],
])('%s that has another digest is refused, and nothing is stored', async (what, digestOf, problem) => {
  const before = original.get(digestOf())!;
  const other = Buffer.from(before);
  other[other.length - 1]! ^= 1;
  blobs.set(digestOf(), what.endsWith('cut') ? before.subarray(0, before.length - 10) : other);
  const { code, stderr } = await paddock('image', 'pull', `${host}/team/app:1`, 'bad');
  expect([code, stderr]).toEqual([1, expect.stringMatching(problem)]);
  expect(await names()).not.toContain('bad');
});

it('what the registry has not is said, with the architectures that there are', async () => {
  const gone = await paddock('image', 'pull', `${host}/team/app:2`);
  expect(gone.stderr).toBe(`paddock: the registry ${host} has no team/app:2\n`);
  const other = await paddock('image', 'pull', '--arch', 'mips', `${host}/team/app:1`);
  expect(other.stderr).toBe(`paddock: the image is not for linux/mips; --arch is one of s390x, ${ARCH}\n`);
});

it('an archive is imported from a file or standard input', async () => {
  await writeFile(join(home, 'root.tar'), SYSTEM);
  expect((await paddock('image', 'import', 'base', join(home, 'root.tar'))).stdout).toMatch(/^base sha256:\w+\n$/);
  await paddock('image', 'rm', 'base');
  expect((await paddock('image', 'import', 'base', join(home, 'none.tar'))).stderr).toMatch(/cannot be read/);
});

it('a reference names the host of its registry', () => {
  expect(referenceOf('r.example/team/app')).toEqual({ host: 'r.example', repository: 'team/app', version: 'latest' });
  expect(referenceOf(`localhost:5000/a@${index.digest}`)).toMatchObject({ version: index.digest });
  for (const wrong of [
    '',
    'A',
    'r.example/A',
    'r.example/a:b/c',
    'r.example/../x',
    'r.example/a@md5:00',
    '../x',
    'http://a',
  ])
    expect(() => referenceOf(wrong), wrong).toThrow(/an image is NAME:TAG or HOST\/NAME:TAG/);
});

it('a reference without a host means what it means to docker', () => {
  const host = 'docker.io';
  expect(referenceOf('python:3.12')).toEqual({ host, repository: 'library/python', version: '3.12' });
  expect(referenceOf('docker.io/python')).toEqual({ host, repository: 'library/python', version: 'latest' });
  expect(referenceOf('ann/app')).toEqual({ host, repository: 'ann/app', version: 'latest' });
  expect(referenceOf('localhost/app')).toMatchObject({ host: 'localhost', repository: 'app' });
  expect(referenceOf('r:5000/app:1')).toMatchObject({ host: 'r:5000', repository: 'app', version: '1' });
});

it('the login of docker without a host is that of names without one', async () => {
  const auths = { 'https://index.docker.io/v1/': { auth: LOGIN } };
  put(home, 'login/config.json', JSON.stringify({ auths }));
  const directory = join(home, 'login');
  expect(await credentialsOf('docker.io', { DOCKER_CONFIG: directory })).toBe(LOGIN);
  expect(await credentialsOf('r.example', { DOCKER_CONFIG: directory })).toBeUndefined();
});
