import { createHash } from 'node:crypto';
import { expect, vi } from 'vitest';
import { asyncDispose } from '../../../clients/typescript/src/dispose.ts';
import { Paddock, type PullOptions, Sandbox } from '../../../clients/typescript/src/index.ts';
import { isWithin } from '../../../clients/typescript/src/local/refusal.ts';
import { END, headerOf, padding } from '../../../clients/typescript/src/local/tar.ts';
import { type Answer, fakeServer, json } from './fake-server.ts';
import { act, type Entry, type Tree } from './pull-trees.ts';

/** See clients/spec/pull/README.md. */
export interface Case {
  name: string;
  base?: Tree;
  sandbox: Tree;
  local?: Tree;
  after?: Tree;
  expect?: {
    applied?: string[];
    unchanged?: string[];
    conflicts?: string[];
    skipped?: Record<string, string>;
    failed?: string[];
  };
  raises?: string[];
  error?: string;
  dry?: boolean;
  kept?: boolean;
  options?: {
    paths?: string[];
    exclude?: string[];
    only?: string[];
    on_conflict?: 'keep' | 'replace' | 'raise';
    git?: boolean;
    allow?: string[];
    max_bytes?: number;
    hunks?: { path: string; base_sha256: string; sha256: string; indexes: number[] }[];
  };
  renamed?: Record<string, string>;
  refusals?: Record<string, object>;
  listed?: Record<string, Record<string, unknown>>;
  archive?: Tree;
  breaks?: boolean;
  meanwhile?: string[][];
  umask?: string;
  readonly?: string[];
  owners?: Record<string, string>;
  owned?: Record<string, string>;
}

interface Member {
  path: string;
  type: 'file' | 'directory' | 'symlink';
  mode: number;
  content: Uint8Array;
  target: string;
}

function memberOf(name: string, entry: Entry): Member {
  const path = name.replace(/\/$/, '');
  const member = { path, type: 'directory', mode: 0o755, content: new Uint8Array(0), target: '' } as const;
  if (path !== name) return member;
  if (entry !== null && typeof entry === 'object' && 'link' in entry)
    return { ...member, type: 'symlink', mode: 0o777, target: entry.link };
  const { file, mode = '644' } = typeof entry === 'object' && entry && 'file' in entry ? entry : { file: entry ?? '' };
  return { ...member, type: 'file', mode: Number.parseInt(mode, 8), content: Buffer.from(String(file)) };
}

/** What is at a path of the codebase; a directory may be there for what it has. */
function baseOf(base: Tree, path: string): Member | undefined {
  if (base[path] !== undefined) return memberOf(path, base[path]);
  return Object.keys(base).some((each) => each.startsWith(`${path}/`)) ? memberOf(`${path}/`, '') : undefined;
}

const sha256 = (member: Member | undefined) =>
  member?.type === 'file' ? createHash('sha256').update(member.content).digest('hex') : '';
const typeOf = (member: Member | undefined) => `TYPE_${(member?.type ?? 'file').toUpperCase()}`;

/** As a server lists them. */
function changesOf(
  { base = {}, sandbox, renamed = {}, refusals = {}, listed = {} }: Case,
  asked: URLSearchParams,
): object[] {
  const [paths, exclude] = [asked.getAll('paths'), asked.getAll('exclude')];
  const isListed = (name: string) => {
    const isIn = (each: string) => isWithin(name.replace(/\/$/, ''), each);
    return (paths.length === 0 || paths.some(isIn)) && !exclude.some(isIn);
  };
  const found = Object.entries(sandbox).filter(([name]) => isListed(name));
  return found.map(([name, entry]) => {
    const path = name.replace(/\/$/, '');
    const was = baseOf(base, path);
    const now = entry === null ? undefined : memberOf(name, entry);
    const { local: isKnown, base_sha256 = sha256(was), sha256: digest = sha256(now), ...more } = listed[path] ?? {};
    const [targets, refusal] = [
      { base_link_target: was?.target ?? '', link_target: now?.target ?? '' },
      refusals[path],
    ];
    return {
      ...{ path, kind: `CHANGE_${now === undefined ? 'DELETED' : was === undefined ? 'ADDED' : 'MODIFIED'}` },
      ...{ type: typeOf(now ?? was), base_type: typeOf(was), size: now?.content.length ?? 0 },
      ...{ mode: now?.mode ?? 0, base_mode: was?.mode ?? 0, renamed_from: renamed[path] ?? '' },
      ...(isKnown !== null && { local: { ...targets, base_sha256, sha256: digest, ...(refusal && { refusal }) } }),
      ...more,
    };
  });
}

/** The archive of the changes. */
export function tarOf({ sandbox, archive = {} }: Case): Uint8Array {
  const sent = Object.entries({ ...sandbox, ...archive }).filter(([, entry]) => entry !== null);
  const blocks = sent
    .map(([name, entry]) => memberOf(name, entry))
    .flatMap(({ content, ...each }) => {
      const size = content.length;
      return [headerOf({ ...each, mtimeMs: 0, size }), content, ...(each.type === 'file' ? [padding(size)] : [])];
    });
  return Buffer.concat([...blocks, END]);
}

/** A pull from a server that says what the case does. `archive`: what it sends instead. */
export async function pulled(
  given: Case,
  root: string,
  { dryRun = false, archive, ...own }: { dryRun?: boolean; archive?: Answer; only?: PullOptions['only'] } = {},
) {
  const { base = {}, meanwhile = [], options: { only, hunks, on_conflict, max_bytes, ...rest } = {} } = given;
  const { url, seen: requests } = await fakeServer((res, seen) => {
    const { pathname, searchParams } = new URL(seen.url, 'http://x');
    if (pathname.includes('/codebases/')) {
      const path = decodeURIComponent(pathname.replace(/.*\/files\//, ''));
      return res.end(memberOf(path, base[path] ?? '').content);
    }
    if (!searchParams.has('format'))
      return json({ changes: changesOf(given, searchParams), next_page_token: '' })(res, seen);
    for (const step of meanwhile.splice(0)) act(root, step);
    if (given.breaks) res.write(tarOf(given).subarray(0, 512), () => setImmediate(() => res.destroy()));
    else archive ? archive(res, seen) : res.end(tarOf(given));
  });
  const options: PullOptions = {
    ...{ ...rest, dryRun, onConflict: on_conflict, maxBytes: max_bytes },
    ...(only && { only: (path: string) => only.includes(path) }),
    ...own,
    hunks: hunks?.map(({ base_sha256, ...each }) => ({ ...each, baseSha256: base_sha256 })),
  };
  const info = { id: 'sb_1', codebaseId: 'cb_1' } as never;
  const sandbox = new Sandbox(new Paddock({ url, maxRetries: 0 }).api, info, { sandbox: true });
  const pulling = sandbox.pull(root, options);
  if (!dryRun && given.kept !== undefined) {
    await pulling.catch(() => undefined);
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await sandbox[asyncDispose]();
    warn.mockRestore();
    expect(requests.some(({ method }) => method === 'DELETE')).toBe(!given.kept);
  }
  const { skipped, failed, ...lists } = await pulling;
  return {
    ...lists,
    skipped: Object.fromEntries(skipped.map(({ path, reason }) => [path, reason])),
    failed: failed.map(({ path }) => path),
  };
}
