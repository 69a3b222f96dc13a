import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** See clients/spec/pull/README.md; null: nothing. */
export type Entry =
  | string
  | null
  | { file: string; mode?: string; days?: number }
  | { link: string }
  | { hardlink: string }
  | { fifo: true };
export type Tree = Readonly<Record<string, Entry>>;

export function put(root: string, tree: Tree): void {
  for (const [name, entry] of Object.entries(tree)) {
    const path = join(root, name);
    if (!name.endsWith('/') || entry === null) rmSync(path, { recursive: true, force: true });
    if (entry === null) continue;
    mkdirSync(name.endsWith('/') ? path : dirname(path), { recursive: true });
    if (!name.endsWith('/')) putEntry(root, path, typeof entry === 'string' ? { file: entry } : entry);
  }
}

function putEntry(root: string, path: string, entry: Exclude<Entry, string | null>): void {
  if ('link' in entry) symlinkSync(entry.link, path);
  if ('hardlink' in entry) linkSync(join(root, entry.hardlink), path);
  if ('fifo' in entry) execFileSync('mkfifo', [path]);
  if (!('file' in entry)) return;
  writeFileSync(path, entry.file);
  chmodSync(path, Number.parseInt(entry.mode ?? '644', 8));
  const days = Date.now() / 1000 - (entry.days ?? 0) * 86_400;
  if (entry.days) utimesSync(path, days, days);
}

/** What others do. */
export function act(root: string, [step, name = '', to = '']: readonly string[]): void {
  const path = join(root, name);
  if (step === 'move') renameSync(path, join(root, to));
  else if (step === 'remove') put(root, { [name]: null });
  else put(root, { [name]: step === 'write' ? to : step === 'link' ? { link: to } : { fifo: true } });
}

export function snapshot(root: string): Record<string, string> {
  const found = readdirSync(root, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    found.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(root.length + 1), shownAt(path)];
    }),
  );
}

function shownAt(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  if (stat.isFile()) return `${(stat.mode & 0o7777).toString(8)} ${readFileSync(path, 'utf8')}`;
  return stat.isDirectory() ? 'directory' : 'other';
}

export function own(root: string, owners: Readonly<Record<string, string>>): void {
  for (const [name, owner] of Object.entries(owners)) {
    const [uid, gid] = owner.split(':').map(Number) as [number, number];
    lchownSync(join(root, name), uid, gid);
  }
}

export function ownersOf(root: string, names: readonly string[]): Record<string, string> {
  const owner = ({ uid, gid }: { uid: number; gid: number }) => `${uid}:${gid}`;
  return Object.fromEntries(names.map((name) => [name, owner(lstatSync(join(root, name)))]));
}

/** Also for root. */
export const lock = (root: string, names: readonly string[]): void => chattr('+i', root, names);
export const unlock = (root: string, names: readonly string[]): void => chattr('-i', root, names);

function chattr(flag: string, root: string, names: readonly string[]): void {
  for (const name of names) execFileSync('chattr', [flag, join(root, name)]);
}
