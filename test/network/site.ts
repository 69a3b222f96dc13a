import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join, normalize } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PACKAGE_JSON = { name: 'left', version: '1.2.3', main: 'index.js' };
const WHEEL = 'left-1.2.3-py3-none-any.whl';
const WHEEL_FILES = {
  'left.py': 'VALUE = 42\n',
  'left-1.2.3.dist-info/METADATA': 'Metadata-Version: 2.1\nName: left\nVersion: 1.2.3\n',
  'left-1.2.3.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  'left-1.2.3.dist-info/RECORD': '',
};

/**
 * A site with what programs fetch: a file (`/file`), a repository of git (`/repo.git`), an index of Python packages (`/simple/`),
 * and a package of npm (`/left`), each with one package `left`. `host`: its name.
 */
export async function makeSite(directory: string, host: string): Promise<RequestListener> {
  const site = join(directory, 'site');
  const put = (path: string, content: string | Buffer) => {
    mkdirSync(join(site, path, '..'), { recursive: true });
    writeFileSync(join(site, path), content);
  };
  put('file', 'the file\n');
  await putRepository(directory, join(site, 'repo.git'));

  const source = join(directory, 'wheel');
  for (const [path, content] of Object.entries(WHEEL_FILES)) {
    mkdirSync(join(source, path, '..'), { recursive: true });
    writeFileSync(join(source, path), content);
  }
  mkdirSync(join(site, 'wheels'), { recursive: true });
  await run('python3', ['-m', 'zipfile', '-c', join(site, 'wheels', WHEEL), 'left.py', 'left-1.2.3.dist-info'], {
    cwd: source,
  });
  put('simple/left/index.html', `<a href="/wheels/${WHEEL}">${WHEEL}</a>`);

  put('../npm/package/package.json', JSON.stringify(PACKAGE_JSON));
  put('../npm/package/index.js', 'module.exports = 42;\n');
  await run('tar', ['-czf', join(site, 'left.tgz'), '-C', join(directory, 'npm'), 'package']);
  const integrity = `sha512-${createHash('sha512')
    .update(readFileSync(join(site, 'left.tgz')))
    .digest('base64')}`;
  const dist = { tarball: `https://${host}/left.tgz`, integrity };
  const versions = { '1.2.3': { ...PACKAGE_JSON, dist } };
  put('left', JSON.stringify({ name: 'left', 'dist-tags': { latest: '1.2.3' }, versions }));

  return ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://any');
    const path = join(site, normalize(pathname), pathname.endsWith('/') ? 'index.html' : '');
    const found = existsSync(path) && statSync(path).isFile();
    const content = found ? readFileSync(path) : Buffer.from('not found');
    response.writeHead(found ? 200 : 404, { 'content-type': typeOf(pathname), 'content-length': content.length });
    response.end(content);
  };
}

async function putRepository(directory: string, bare: string): Promise<void> {
  const work = join(directory, 'work');
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main', ...args], {
      cwd: directory,
    });
  await git('init', '-q', work);
  writeFileSync(join(work, 'a.txt'), 'from git\n');
  await git('-C', work, 'add', '.');
  await git('-C', work, 'commit', '-qm', 'first');
  await git('clone', '-q', '--bare', work, bare);
  await git('-C', bare, 'update-server-info');
}

function typeOf(path: string): string {
  if (path.endsWith('/')) return 'text/html';
  return path === '/left' ? 'application/json' : 'application/octet-stream';
}
