import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type Docker from 'dockerode';

const run = promisify(execFile);

/** Debian's packages whose programs the tests run inside a container. */
const PACKAGES = [
  'coreutils',
  'dash',
  'bash',
  'findutils',
  'grep',
  'sed',
  'tar',
  'procps',
  'util-linux',
  'git',
  'mawk',
];
const MORE_PROGRAMS = ['sh', 'awk', 'python3'];

/** Links of distributions with a merged /usr. */
const MERGED = [
  ['bin', 'usr/bin'],
  ['sbin', 'usr/bin'],
  ['lib', 'usr/lib'],
  ['lib64', 'usr/lib64'],
] as const;

const PYTHON_LIBRARY = /^\/usr\/lib\/python3[.\d]*$/;

export interface ImageOptions {
  /** Programs of /usr/bin, copied with their libraries. Default: the programs of PACKAGES, and python3. */
  programs?: readonly string[];
  /** Additional programs of this machine: names in the image's /usr/bin to paths here. */
  binaries?: Readonly<Record<string, string>>;
  /** Dockerfile instructions for `docker import --change`. */
  changes?: string[];
  /** Additional links in /usr/bin, by program. */
  links?: Readonly<Record<string, readonly string[]>>;
  /** Executable files by path, created after the programs. */
  files?: Readonly<Record<string, string>>;
}

/** Imports an image of this machine's files, so no registry is needed. Returns `name`. */
export async function importImage(docker: Docker, name: string, options: ImageOptions = {}): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'paddock-image-'));
  try {
    const programs = options.programs ?? (await installedPrograms());
    const named = programs.map((program) => [program, join('/usr/bin', program)] as const);
    await fill(tree, [...named, ...Object.entries(options.binaries ?? {})]);
    for (const [program, names] of Object.entries(options.links ?? {})) {
      for (const link of names) await symlink(program, join(tree, 'usr/bin', link));
    }
    for (const [path, content] of Object.entries(options.files ?? {}))
      await writeFile(join(tree, path), content, { mode: 0o755 });
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

/** Returns the names of the packages' files in /usr/bin and /bin; links (to alternatives, between packages) are not followed. */
async function installedPrograms(): Promise<string[]> {
  const { stdout } = await run('dpkg-query', ['-L', ...PACKAGES], { maxBuffer: 16 * 1024 ** 2 });
  const names = [...stdout.matchAll(/^(?:\/usr)?\/bin\/([^/\n]+)$/gm)].map(([, name]) => name as string);
  return [...new Set([...names, ...MORE_PROGRAMS])];
}

async function fill(tree: string, programs: readonly (readonly [name: string, path: string])[]): Promise<void> {
  for (const directory of ['etc', 'tmp', 'proc', 'usr/bin', 'usr/lib', 'usr/lib64']) {
    await mkdir(join(tree, directory), { recursive: true });
  }
  for (const [link, target] of MERGED) await symlink(target, join(tree, link));
  const libraries = new Set<string>();
  for (const [program, path] of programs) {
    const file = await realpath(path);
    await cp(file, join(tree, 'usr/bin', program));
    for (const library of await linkedBy(file)) libraries.add(library);
    if (program === 'python3') for (const library of await python(tree)) libraries.add(library);
  }
  for (const library of libraries) {
    await mkdir(join(tree, dirname(library)), { recursive: true });
    await cp(library, join(tree, library), { dereference: true });
  }
}

/** Returns the libraries of a program; none for a script or a static program. */
async function linkedBy(file: string): Promise<string[]> {
  const { stdout } = await run('ldd', [file]).catch(() => ({ stdout: '' }));
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, library]) => library as string);
}

/** Returns python's library directory, and the libraries of its modules. */
async function python(tree: string): Promise<string[]> {
  const { stdout } = await run('/usr/bin/python3', ['-c', 'import os; print(os.path.dirname(os.__file__))']);
  const library = stdout.trim();
  if (!PYTHON_LIBRARY.test(library)) throw new Error(`unexpected place of python's library: ${library}`);
  const skipped = /\/(test|idlelib|ensurepip|lib2to3|__pycache__|config-[^/]*)$/;
  await cp(library, join(tree, library), { recursive: true, filter: (source) => !skipped.test(source) });
  const modules = join(library, 'lib-dynload');
  const linked = await Promise.all((await readdir(modules)).map((name) => linkedBy(join(modules, name))));
  return linked.flat();
}
