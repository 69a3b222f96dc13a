/**
 * Makes everything that a release has, from one build: the npm packages of the command line with the server, of the client
 * and of the adapters, the Python wheels, and the Debian package. Prints the path of each.
 *
 *   npm run packages [-- --only=cli,deb,…] [DIRECTORY]      (default: dist/packages)
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDeb } from './packages/deb.mjs';

const root = resolve(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { values, positionals } = parseArgs({ options: { only: { type: 'string' } }, allowPositionals: true });
const directory = resolve(positionals[0] ?? join(root, 'dist/packages'));

/** @type {(program: string, args: string[]) => string} */
const lastLine = (program, args) =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    .trim()
    .split('\n')
    .at(-1) ?? '';

/** @type {(folder: string) => string} */
const npmPackage = (folder) => {
  const args = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', directory];
  return join(directory, lastLine('npm', ['--prefix', folder, ...args, join(root, folder)]));
};

/** Needs pip, and a registry for the build backend. @type {(folder: string) => string} */
const wheel = (folder) => {
  const made = mkdtempSync(join(directory, '.wheel-'));
  try {
    const args = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', made, `./${folder}`];
    lastLine('sh', ['scripts/from-network.sh', 'python3', ...args]);
    const [name = ''] = readdirSync(made);
    renameSync(join(made, name), join(directory, name));
    return join(directory, name);
  } finally {
    rmSync(made, { recursive: true });
  }
};

/** @type {Record<string, () => string>} */
const MAKERS = {
  cli: () => npmPackage('clients/cli'),
  typescript: () => npmPackage('clients/typescript'),
  adapters: () => npmPackage('clients/adapters'),
  python: () => wheel('clients/python'),
  'python-adapters': () => wheel('clients/adapters/python'),
  deb: () => makeDeb({ root, version, directory }),
};
const chosen = values.only?.split(',') ?? Object.keys(MAKERS);
for (const name of chosen) {
  if (!(name in MAKERS)) throw new TypeError(`--only: ${name} is none of ${Object.keys(MAKERS).join(', ')}`);
}
if (!existsSync(join(root, 'dist/paddock.mjs'))) throw new Error('no dist/paddock.mjs: run npm run build');
mkdirSync(directory, { recursive: true });
for (const name of chosen) process.stdout.write(`${MAKERS[name]()}\n`);
