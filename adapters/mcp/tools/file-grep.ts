import * as z from 'zod';
import type { FoundLines } from '../../../lib/text-tools/text-search.ts';
import { globsIn, onOneLine, workspacePath } from '../paths.ts';
import { type Place, READS, textAnswer, tool } from '../tool.ts';

const MAX_MS = 10_000;

export const fileGrep = tool({
  name: 'file_grep',
  operation: 'ExportFiles',
  description: 'Find lines in text files: path:line: text. At most 20 kB; files above 1 MiB are left out.',
  input: {
    pattern: z.string().min(1).max(1000).describe('A literal, within a line'),
    regex: z.boolean().default(false).describe('pattern is a regular expression of JavaScript'),
    path: z.string().default('.').describe('Directory'),
    files: z.string().optional().describe('Glob relative to path, like **/*.ts'),
  },
  hints: READS,
  async run({ pattern, regex, path, files }, place: Place) {
    const { caller, sandbox_id } = place;
    const directory = await workspacePath(place, path);
    const [glob] = await globsIn(place, directory, files === undefined ? [] : [files], 'files');
    const query = {
      pattern,
      regex,
      files: { exclude: [], ...(glob !== undefined && { pattern: glob }) },
    };
    let found: FoundLines = { lines: [], isFull: false, long: 0 };
    const request = { sandbox_id, as: 'agent', path: directory };
    await caller.inThread(async (tools) => {
      await tools.searchTexts(query);
      await caller.use('ExportFiles', request, async (parts: AsyncIterable<{ data: Uint8Array }>) => {
        for await (const { data } of parts) {
          found = await tools.feed(data);
          if (found.isFull) break;
        }
      });
    }, MAX_MS);
    const { isFull, long } = found;
    const prefix = directory === '' ? '' : `${directory}/`;
    const lines = found.lines.map((each) => `${onOneLine(prefix + each.path)}:${each.number}: ${each.text}`);
    if (isFull) lines.push('[there may be more: choose path, files or pattern]');
    if (long > 0) lines.push(`[${long} files above 1 MiB are left out: use exec]`);
    return textAnswer(lines.length > 0 ? lines.join('\n') : '[no matches]');
  },
});
