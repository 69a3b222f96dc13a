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

/**
 * The files of which only some hunks are taken, as the directory gets them: by path, and made when they are needed. Throws
 * FailedPreconditionError if a version is not the one that was looked at.
 */
export async function partsOf(
  chosen: readonly ChosenHunks[],
  origin: Origin,
): Promise<ReadonlyMap<string, () => Promise<Uint8Array>>> {
  const parts = new Map<string, () => Promise<Uint8Array>>();
  if (chosen.length === 0) return parts;
  const { api, sandboxId, signal } = origin;
  const paths = chosen.map(({ path }) => path);
  const changes = new Map(
    (await listChanges(api, sandboxId, { paths, diff: true, signal })).map((each) => [each.path, each]),
  );
  for (const { path, baseSha256, sha256, indexes } of chosen) {
    const change = changes.get(path);
    const { diff } = change ?? {};
    if (!change || !diff || diff.sha256 !== sha256 || diff.baseSha256 !== baseSha256) never(path);
    parts.set(path, () => partOf(change, diff.hunks, indexes, origin));
  }
  return parts;
}

async function partOf(
  { path }: FileChange,
  hunks: readonly Hunk[],
  indexes: readonly number[],
  { api, codebaseId, signal }: Origin,
): Promise<Uint8Array> {
  const base = await api.downloadFile({ codebaseId, filePath: path }, { signal, whole: true });
  // A byte order mark is a part of the first line.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await base.arrayBuffer());
  return new TextEncoder().encode(withHunks(text, hunks, indexes));
}
