/** The input of the demo: this repository as in git, and the packages that its build needs. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Never part of a project's own files. */
const DERIVED = new Set(['.git', 'node_modules', 'dist', '.tmp']);

/**
 * A git checkout of `root`'s committed files in `directory`, with its history. Where `root` is no checkout (a release
 * archive) its files are copied and committed.
 */
export function checkOut(root, directory, home) {
  mkdirSync(home, { recursive: true });
  // A checkout may belong to another user than the one who runs the demo.
  const settings =
    '[safe]\n directory = *\n[user]\n name = demo\n email = demo@localhost\n[init]\n defaultBranch = main\n';
  writeFileSync(join(home, 'gitconfig'), settings);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const git = (cwd, ...words) =>
    execFileSync('git', words, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (isCheckout(root, git)) {
    git(root, 'clone', '--quiet', '--template=', `file://${root}`, directory);
    return git;
  }
  cpSync(root, directory, {
    recursive: true,
    filter: (path) => !DERIVED.has(path.slice(root.length + 1).split('/')[0]),
  });
  git(directory, 'init', '--quiet', '--template=');
  git(directory, 'add', '--all');
  git(directory, 'commit', '--quiet', '--message', 'The files of this release');
  return git;
}

function isCheckout(root, git) {
  try {
    const top = git(root, 'rev-parse', '--show-toplevel').trim();
    return realpathSync(top) === realpathSync(root) && git(root, 'rev-parse', 'HEAD') !== '';
  } catch {
    return false;
  }
}

/** Directories of node_modules that the build reads: runtime dependencies and the bundler. */
export function buildPackages(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, entry]) => path !== '' && (!entry.dev || path.includes('esbuild')))
    .map(([path]) => path)
    .filter((path) => existsSync(join(root, path)));
}

/** Whether the build reads the file: excludes types, source maps and documents. */
export function isCode(path) {
  return /\.(c?js|mjs|json|proto|node)$|\/bin\/[^/]+$/.test(path);
}

/** The path of every regular file below `directory`, relative, below `prefix`. */
export function* filesOf(directory, prefix = '') {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    // Packages nested in a package have their own entries in the lock file.
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* filesOf(join(directory, entry.name), path);
    else if (entry.isFile()) yield path;
  }
}

/** An archive of files of several trees, as {root, paths}. `directory`: for the lists of the paths. */
export function archive(trees, directory) {
  const places = trees.flatMap(({ root, paths }, index) => {
    const list = join(directory, `files-${index}`);
    writeFileSync(list, paths.map((path) => `${path}\0`).join(''));
    return ['-C', root, '-T', list];
  });
  return spawn('tar', ['-c', '--no-recursion', '--null', ...places], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout;
}
