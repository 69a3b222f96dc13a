import type { Api } from '../api.ts';
import { listChanges } from '../changes.ts';
import type { ChosenHunks, FileChange, Hunk } from '../contract/messages.ts';
import { FailedPreconditionError } from '../errors.ts';

/** The text with some of its differences, by index. Throws FailedPreconditionError if it is not the text that was compared. */
export function withHunks(base: string, hunks: readonly Hunk[], indexes: readonly number[]): string {
  const lines = base.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  let text = '';
  let at = 0;
  let last = -1;
  for (const index of indexes) {
    if (index <= last) never();
    last = index;
    const { oldStart, oldLines, removed, added } = hunks[index] ?? never();
    const from = oldStart - 1;
    if (from < at || lines.slice(from, from + oldLines).join('') !== removed) never();
    text += lines.slice(at, from).join('') + added;
    at = from + oldLines;
  }
  return text + lines.slice(at).join('');
}

function never(path?: string): never {
  const which = path === undefined ? 'a file' : JSON.stringify(path);
  const message = `hunks: ${which} has other contents by now; list the changes again`;
  throw new FailedPreconditionError({ code: 'FAILED_PRECONDITION', message });
}

interface Origin {
  api: Api;
  sandboxId: string;
  codebaseId: string;
  signal: AbortSignal | undefined;
}

/** What the directory gets of a file of which only some hunks are taken. */
export interface Part {
  /** The execute bit is none of the hunks. */
  mode: number;
  /** Old path of a renamed file; empty otherwise. */
  renamedFrom: string;
  content: () => Promise<Uint8Array>;
}

/**
 * The files of which only some hunks are taken, by path; their contents are made when they are needed. Throws
 * FailedPreconditionError if a version is not the one that was looked at.
 */
export async function partsOf(chosen: readonly ChosenHunks[], origin: Origin): Promise<ReadonlyMap<string, Part>> {
  const parts = new Map<string, Part>();
  if (chosen.length === 0) return parts;
  const { api, sandboxId, signal } = origin;
  const paths = chosen.map(({ path }) => path);
  const changes = new Map(
    (await listChanges(api, sandboxId, { paths, diff: true, local: true, signal })).map((each) => [each.path, each]),
  );
  for (const { path, baseSha256, sha256, indexes } of chosen) {
    const change = changes.get(path);
    const { diff } = change ?? {};
    if (!change || !diff || diff.sha256 !== sha256 || diff.baseSha256 !== baseSha256) never(path);
    const { kind, renamedFrom } = change;
    parts.set(path, {
      mode: diff.baseMode,
      renamedFrom: kind === 'added' ? renamedFrom : '',
      content: () => contentOf(change, diff.hunks, indexes, origin),
    });
  }
  return parts;
}

/** The removals of the old paths of renamed files: to take hunks of one is to take its rename. */
export async function removalsFor(
  parts: ReadonlyMap<string, Part>,
  { api, sandboxId, signal }: Origin,
): Promise<FileChange[]> {
  const paths = [...parts.values()].map(({ renamedFrom }) => renamedFrom).filter((path) => path !== '');
  if (paths.length === 0) return [];
  const listed = await listChanges(api, sandboxId, { paths, local: true, signal });
  return listed.filter(({ path, kind }) => kind === 'deleted' && paths.includes(path));
}

async function contentOf(
  { path, kind, renamedFrom }: FileChange,
  hunks: readonly Hunk[],
  indexes: readonly number[],
  { api, codebaseId, signal }: Origin,
): Promise<Uint8Array> {
  const base = await api.downloadFile(
    { codebaseId, filePath: kind === 'added' ? renamedFrom || path : path },
    { signal, whole: true },
  );
  // A byte order mark is a part of the first line.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await base.arrayBuffer());
  return new TextEncoder().encode(withHunks(text, hunks, indexes));
}
