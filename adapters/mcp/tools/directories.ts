import * as z from 'zod';
import type { FileStat } from '../../../lib/contract/messages.ts';
import { glob } from '../glob.ts';
import { onOneLine, ROOT, shownPath, workspacePath } from '../paths.ts';
import { type Place, READS, textAnswer, tool } from '../tool.ts';
import { included, isDirectory, listed, moreThan, nameOf } from './listing.ts';
import { sizeText } from './size-text.ts';
import { treeOf } from './tree.ts';

const MAX_ENTRIES = 10_000;
/** Files that one search looks at. */
const MAX_SEARCHED = 50_000;
const MAX_FOUND = 1000;

const path = z.string();
const excludePatterns = z.array(z.string()).max(100).optional();
const labelOf = (file: FileStat) => (isDirectory(file) ? '[DIR]' : '[FILE]');

export const directories = [
  tool({
    name: 'list_directory',
    description: 'List a directory; entries are marked [FILE] or [DIR].',
    input: { path },
    hints: READS,
    async run(args, place: Place) {
      const { files, more } = await listed(place, args.path, { limit: MAX_ENTRIES });
      const lines = files.map((file) => `${labelOf(file)} ${nameOf(file)}`);
      return textAnswer([...lines, ...(more ? [moreThan(MAX_ENTRIES)] : [])].join('\n'));
    },
  }),
  tool({
    name: 'list_directory_with_sizes',
    description: 'List a directory with sizes.',
    input: { path, sortBy: z.enum(['name', 'size']).optional() },
    hints: READS,
    async run(args, place: Place) {
      const { files, more } = await listed(place, args.path, { limit: MAX_ENTRIES });
      const sorted = args.sortBy === 'size' ? files.toSorted((a, b) => b.size - a.size) : files;
      const lines = sorted.map(
        (file) =>
          `${labelOf(file)} ${nameOf(file).padEnd(30)} ${isDirectory(file) ? '' : sizeText(file.size).padStart(10)}`,
      );
      const plain = files.filter((file) => !isDirectory(file));
      const total = sizeText(plain.reduce((sum, { size }) => sum + size, 0));
      const summary = `\nTotal: ${plain.length} files, ${files.length - plain.length} directories\nCombined size: ${total}`;
      return textAnswer([...lines, ...(more ? [moreThan(MAX_ENTRIES)] : []), summary].join('\n'));
    },
  }),
  tool({
    name: 'directory_tree',
    description: 'A directory and all below it as JSON: name, type, children.',
    input: { path, excludePatterns },
    hints: READS,
    async run(args, place: Place) {
      const excluded = (args.excludePatterns ?? []).flatMap(patternsOfTree);
      const listing = await listed(place, args.path, { recursive: true, limit: MAX_ENTRIES });
      const answer = textAnswer(JSON.stringify(treeOf(await included(listing, excluded)), null, 2));
      if (listing.more) answer.content.push({ type: 'text', text: moreThan(MAX_ENTRIES) });
      return answer;
    },
  }),
  tool({
    name: 'search_files',
    description: `Find files and directories by glob, relative to path: *.ts there, **/*.ts at any depth.`,
    input: { path, pattern: z.string(), excludePatterns },
    hints: READS,
    async run(args, place: Place) {
      const matches = glob(args.pattern, 'pattern');
      const excluded = (args.excludePatterns ?? []).map((each) => glob(each, 'excludePatterns'));
      const listing = await listed(place, args.path, { recursive: true, limit: MAX_SEARCHED });
      const found = await included(listing, excluded, matches);
      const lines = found.slice(0, MAX_FOUND).map(({ file }) => onOneLine(shownPath(file.path)));
      if (found.length > MAX_FOUND) lines.push(`[${found.length - MAX_FOUND} more matches]`);
      if (listing.more) lines.push(`[searched ${MAX_SEARCHED} entries only]`);
      return textAnswer(lines.length > 0 ? lines.join('\n') : 'No matches found');
    },
  }),
  tool({
    name: 'get_file_info',
    description: 'Size, time, type and permissions of a file or directory.',
    input: { path },
    hints: READS,
    async run(args, { caller, sandbox_id }: Place) {
      const file = await caller.request('StatFile', { sandbox_id, as: 'agent', path: workspacePath(args.path) });
      const info = {
        size: file.size,
        modified: new Date(file.modified_at * 1000).toISOString(),
        isDirectory: isDirectory(file),
        isFile: file.type === 'TYPE_FILE',
        permissions: file.mode.toString(8).padStart(3, '0'),
        ...(file.type === 'TYPE_SYMLINK' && { target: file.target }),
        access: file.permission.replace('PERMISSION_', '').toLowerCase(),
      };
      return textAnswer(
        Object.entries(info)
          .map(([key, value]) => `${key}: ${value}`)
          .join('\n'),
      );
    },
  }),
  tool({
    name: 'list_allowed_directories',
    description: 'The directory that all files are in.',
    input: {},
    hints: READS,
    run: async (_: object, __: Place) => textAnswer(`Allowed directories:\n${ROOT}`),
  }),
];

/** A pattern without `*` is a name at any depth. */
function patternsOfTree(pattern: string) {
  const spelled = pattern.includes('*') ? [pattern] : [pattern, `**/${pattern}`, `**/${pattern}/**`];
  return spelled.map((each) => glob(each, 'excludePatterns'));
}
