import * as z from 'zod';
import { invalidArgument } from '../../../lib/errors.ts';
import type { Edit } from '../../../lib/text-tools/edit-text.ts';
import { shownPath, workspacePath } from '../paths.ts';
import { CHANGES, type Place, textAnswer, tool } from '../tool.ts';
import { EditTurns } from './edit-turns.ts';
import { MAX_TEXT_BYTES, readBytes, whole } from './read-files.ts';
import { writeBytes } from './write-files.ts';

const MAX_EDITS = 100;

export const editFile = tool({
  name: 'file_edit',
  operation: 'WriteFile',
  description:
    'Replace exact text in a file; differences in indentation are tolerated. A text that matches several times is refused, unless replace_all. Returns a diff.',
  input: {
    path: z.string(),
    edits: z
      .array(z.object({ oldText: z.string(), newText: z.string(), replace_all: z.boolean().optional() }))
      .max(MAX_EDITS),
    dryRun: z.boolean().default(false).describe('Only show the diff'),
  },
  hints: CHANGES,
  async run({ path, edits, dryRun }, place: Place) {
    checkSize(edits);
    const { caller, sandbox_id } = place;
    return textAnswer(await turns.run(caller.ownerId, sandbox_id, () => edit(place, path, edits, dryRun)));
  },
});

const turns = new EditTurns();

/** Each edit has the text of those before it. */
function checkSize(edits: readonly Edit[]): void {
  const size = edits.reduce((sum, { oldText, newText }) => sum + oldText.length + newText.length, 0);
  if (size > MAX_TEXT_BYTES) throw invalidArgument('edits', `must have at most ${MAX_TEXT_BYTES} characters together`);
}

/** Returns the diff. */
async function edit(place: Place, path: string, edits: readonly Edit[], dryRun: boolean): Promise<string> {
  const { caller } = place;
  caller.signal.throwIfAborted();
  const bytes = await readBytes(place, path, whole(MAX_TEXT_BYTES, 'edit it with exec'));
  const from = await workspacePath(place, path);
  const request = { bytes, edits, path: shownPath(from) };
  const { stored, diff } = await caller.inThread((tools) => tools.edit(request));
  if (!dryRun && stored !== undefined) await writeBytes(place, from, stored);
  return diff;
}
