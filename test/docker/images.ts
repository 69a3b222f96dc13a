import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type Docker from 'dockerode';

const run = promisify(execFile);

/** What the tests run inside a container: the machine's own programs, from /usr/bin. */
const PROGRAMS = (
  'sh bash cat ls id env sleep true false echo printf mkdir rm mv cp ln touch chmod dd head tail wc sort tr seq yes ' +
  'stat readlink find grep sed awk cut test tee date kill mkfifo mount setsid nohup python3 ps df uname timeout'
).split(' ');

/** As distributions with a merged /usr have it. */
const MERGED = [
  ['bin', 'usr/bin'],
  ['sbin', 'usr/bin'],
  ['lib', 'usr/lib'],
  ['lib64', 'usr/lib64'],
] as const;

const PYTHON_LIBRARY = /^\/usr\/lib\/python3[.\d]*$/;

export interface ImageOptions {
  /** From /usr/bin; the libraries they are linked with come along. */
  programs?: string[];
  /** Dockerfile instructions, as `docker import --change`. */
  changes?: string[];
}

/** No registry is needed: the image is made of this machine's files. Returns `name`. */
export async function importImage(docker: Docker, name: string, options: ImageOptions = {}): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'paddock-image-'));
  try {
    await fill(tree, options.programs ?? PROGRAMS);
    const tar = spawn('tar', ['-C', tree, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [repo, tag = 'latest'] = name.split(':');
    const query = { fromSrc: '-', repo, tag, changes: options.changes ?? [] };
    const progress = await docker.importImage(tar.stdout as unknown as string, query);
    const words = await text(progress);
    if (!words.includes('sha256:')) throw new Error(`docker import of ${name} failed: ${words}`);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
  return name;
}

async function fill(tree: string, programs: string[]): Promise<void> {
  for (const directory of ['etc', 'tmp', 'proc', 'usr/bin', 'usr/lib', 'usr/lib64']) {
    await mkdir(join(tree, directory), { recursive: true });
  }
  for (const [link, target] of MERGED) await symlink(target, join(tree, link));
  const libraries = new Set<string>();
  for (const program of programs) {
    const file = await realpath(join('/usr/bin', program));
    await cp(file, join(tree, 'usr/bin', program));
    const linked = await run('ldd', [file]).catch(() => ({ stdout: '' }));
    for (const [, library] of linked.stdout.matchAll(/(\/\S+) \(0x/g)) libraries.add(library as string);
    if (program === 'python3') await python(tree);
  }
  for (const library of libraries) {
    await mkdir(join(tree, dirname(library)), { recursive: true });
    await cp(library, join(tree, library), { dereference: true });
  }
}

async function python(tree: string): Promise<void> {
  const { stdout } = await run('/usr/bin/python3', ['-c', 'import os; print(os.path.dirname(os.__file__))']);
  const library = stdout.trim();
  if (!PYTHON_LIBRARY.test(library)) throw new Error(`unexpected place of python's library: ${library}`);
  const skipped = /\/(test|idlelib|ensurepip|lib2to3|__pycache__|config-[^/]*)$/;
  await cp(library, join(tree, library), { recursive: true, filter: (source) => !skipped.test(source) });
}
