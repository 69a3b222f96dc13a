import type { FileChange, Sandbox } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { shownPatch } from '../output/patch.ts';
import { printableName } from '../output/printable.ts';
import { hunkText } from './hunk-text.ts';

/** What a review shows of a file: of a renamed one, its differences from what the codebase has at the old name. */
export async function contentsOf(
  sandbox: Sandbox,
  { path, kind, renamedFrom }: FileChange,
  { out, signal }: Pick<Context, 'out' | 'signal'>,
): Promise<string> {
  const paint = out.paintError;
  const [now] =
    kind !== 'added' || renamedFrom === '' ? [] : await sandbox.changes({ paths: [path], diff: true, signal });
  if (now?.diff?.noHunks !== '') return shownPatch(await sandbox.patch({ paths: [path], signal }), paint);
  const names = [`--- a/${printableName(now.renamedFrom)}`, `+++ b/${printableName(path)}`].map(paint.bold);
  const places = now.diff.hunks.map((hunk) => {
    const place = `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`;
    return `${paint.cyan(place)}\n${hunkText(hunk, paint)}`;
  });
  return `${names.join('\n')}\n${places.join('') || 'no line differs\n'}`;
}
