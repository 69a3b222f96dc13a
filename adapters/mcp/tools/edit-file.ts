import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { Breaks } from '../../../lib/breaks.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { inSlices } from '../../../lib/patch/slices.ts';
import { hunks } from '../../../lib/patch/unified.ts';
import { shownPath, workspacePath } from '../paths.ts';
import { CHANGES, type Place, textAnswer, tool } from '../tool.ts';
import { applied, findEdit } from './apply-edit.ts';
import { EditTurns } from './edit-turns.ts';
import { LineEnds } from './line-ends.ts';
import { MAX_TEXT_BYTES, readBytes, whole } from './read-files.ts';
import { writeText } from './write-files.ts';

const MAX_EDITS = 100;

export const editFile = tool({
  name: 'edit_file',
  description:
    'Replace exact text in a file; differences in indentation are tolerated. Each edit replaces its first match. Returns a diff.',
  input: {
    path: z.string(),
    edits: z.array(z.object({ oldText: z.string(), newText: z.string() })).max(MAX_EDITS),
    dryRun: z.boolean().default(false).describe('Only show the diff'),
  },
  hints: CHANGES,
  async run({ path, edits, dryRun }, place: Place) {
    const { caller, sandbox_id } = place;
    const { before, after } = await turns.run(caller.ownerId, sandbox_id, () => edit(place, path, edits, dryRun));
    return textAnswer(await diffOf(shownPath(workspacePath(path)), before, after));
  },
});

const turns = new EditTurns();

type Edits = readonly { oldText: string; newText: string }[];

async function edit(place: Place, path: string, edits: Edits, dryRun: boolean) {
  place.caller.signal.throwIfAborted();
  const bytes = await readBytes(place, path, whole(MAX_TEXT_BYTES, 'edit it with exec'));
  if (!isUtf8(bytes)) throw new ServiceError('INVALID_ARGUMENT', 'the file is not UTF-8 text: edit it with exec');
  const text = bytes.toString();
  const result = await edited(text, edits);
  if (!dryRun && result.stored !== text) await writeText(place, path, result.stored);
  return result;
}

/** Lines that end in CRLF are compared and shown without CR, and stored with it. */
async function edited(text: string, edits: Edits): Promise<{ before: string; after: string; stored: string }> {
  const before = text.replaceAll('\r\n', '\n');
  const ends = new LineEnds(text);
  let after = before;
  const breaks = new Breaks();
  for (const { oldText, newText } of edits) {
    const edit = findEdit(after, oldText.replaceAll('\r\n', '\n'), newText.replaceAll('\r\n', '\n'));
    ends.replace(after, edit);
    after = applied(after, edit);
    await breaks.due();
  }
  return { before, after, stored: ends.restored(after) };
}

/** A diff in a block of code whose fence the diff does not contain. */
async function diffOf(path: string, before: string, after: string): Promise<string> {
  const changed = await inSlices(hunks(latin(before), latin(after)));
  const diff = `Index: ${path}\n${'='.repeat(67)}\n--- ${path}\toriginal\n+++ ${path}\tmodified\n${utf8(changed)}`;
  let fence = '```';
  while (diff.includes(fence)) fence += '`';
  return `${fence}diff\n${diff}${fence}\n\n`;
}

/** The differ works on one character for each byte. */
const latin = (text: string): string => Buffer.from(text).toString('latin1');
const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString();
