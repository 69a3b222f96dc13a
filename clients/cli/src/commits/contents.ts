import { Links, type Refusal } from 'paddock-sandbox/local';
import { CliError } from '../command-line/errors.ts';
import { Home } from '../review/home.ts';
import type { Git } from './git.ts';

export interface Contents {
  /** What may not come home, or not without being asked for. */
  refused: ({ path: string } & Refusal)[];
  /** Paths of submodules, whose commits are not brought. */
  submodules: string[];
}

interface Entry {
  path: string;
  /** "000000": it is removed. */
  mode: string;
  object: string;
}

const MOST_ENTRIES = 100_000;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_NAME = 4096;
const SYMLINK = '120000';
const SUBMODULE = '160000';

/** Looks at all paths that the commits change, as `pull` does: a checkout would write them. Throws CliError. */
export async function contentsOf(
  git: Git,
  commits: readonly string[],
  { directory, allow, signal }: { directory: string; allow: readonly string[]; signal: AbortSignal },
): Promise<Contents> {
  // A merge by what differs from all parents. The number is bounded: trees that share subtrees have any number of paths.
  const args = ['diff-tree', '--stdin', '-r', '-c', '--root', '-z', '--no-renames', '--no-commit-id'];
  const input = commits.map((commit) => `${commit}\n`).join('');
  const entries = entriesOf(await git.run(args, { input, most: MOST_BYTES, signal }));
  const targets = await targetsOf(git, entries, signal);
  const home = new Home(directory, { git: false, allow, links: await Links.of(directory, { signal }) });
  const refused = new Map<string, Refusal>();
  for (const { path, mode, object } of entries.values()) {
    if (mode === '000000') continue;
    const type = mode === SYMLINK ? 'symlink' : mode === SUBMODULE ? 'directory' : 'file';
    const refusal = await home.refusal({ path, type, target: targets.get(object) });
    if (refusal) refused.set(refusal.allow ?? path, refusal);
  }
  const submodules = [...entries.values()].filter(({ mode }) => mode === SUBMODULE).map(({ path }) => path);
  return {
    refused: [...refused].map(([path, refusal]) => ({ path, ...refusal })),
    submodules: [...new Set(submodules)],
  };
}

/** Each kind of a path once: it may be a symlink in one commit and a file in another. */
function entriesOf(raw: Buffer): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const fields = raw.toString().split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [head = '', path = ''] = [fields[at], fields[at + 1]];
    const [, colons = '', rest = ''] = /^\n?(:+)(.*)$/s.exec(head) ?? [];
    // Modes of the parents and of the result, then objects likewise, then a status.
    const parts = rest.split(' ');
    const parents = colons.length;
    const [mode, object] = [parts[parents], parts[2 * parents + 1]];
    if (!mode || !object || path === '') throw new CliError('git printed changes in an unknown form');
    if (Buffer.byteLength(path) > MOST_NAME) throw new CliError('its commits have a path that is too long');
    entries.set(`${mode === SYMLINK ? object : mode} ${path}`, { path, mode, object });
    if (entries.size > MOST_ENTRIES) throw new CliError(`its commits change more than ${MOST_ENTRIES} paths`);
  }
  return entries;
}

async function targetsOf(
  git: Git,
  entries: ReadonlyMap<string, Entry>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const links = [...new Set([...entries.values()].filter(({ mode }) => mode === SYMLINK).map(({ object }) => object))];
  const input = links.map((object) => `${object}\n`).join('');
  const sizes = (await git.text(['cat-file', '--batch-check=%(objectsize)'], { input, signal })).split('\n');
  if (links.some((_, at) => !(Number(sizes[at]) <= MOST_NAME)))
    throw new CliError('its commits have a symlink that is too long');
  const all = await git.run(['cat-file', '--batch=%(objectsize)'], { input, most: MOST_BYTES, signal });
  const targets = new Map<string, string>();
  let at = 0;
  for (const [index, object] of links.entries()) {
    const size = Number(sizes[index]);
    at = all.indexOf('\n', at) + 1;
    targets.set(object, all.toString('utf8', at, at + size));
    at += size + 1;
  }
  return targets;
}
