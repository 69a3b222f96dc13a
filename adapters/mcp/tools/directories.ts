import * as z from 'zod';
import type { FileStat } from '../../../lib/contract/messages.ts';
import { onOneLine, ROOT, shownPath, workspacePath } from '../paths.ts';
import { type Place, READS, textAnswer, tool } from '../tool.ts';
import { isDirectory, listed, moreThan, nameOf, searched } from './listing.ts';
import { sizeText } from './size-text.ts';

const MAX_ENTRIES = 10_000;
/** Files that one search looks at. */
const MAX_SEARCHED = 50_000;
const MAX_FOUND = 1000;
/** Characters of one answer. */
const MAX_SHOWN = 1024 * 1024;

const path = z.string();
const excludePatterns = z.array(z.string()).max(100).optional();
const labelOf = (file: FileStat) => (isDirectory(file) ? '[DIR]' : '[FILE]');

export const directories = [
  tool({
    name: 'list_directory',
    operation: 'ListDirectory',
    description: 'List a directory; entries are marked [FILE] or [DIR].',
    input: { path },
    hints: READS,
    async run(args, place: Place) {
      const { files, more } = await listed(place, args.path, { limit: MAX_ENTRIES });
      const { lines, left } = fitting(files.map((file) => `${labelOf(file)} ${nameOf(file)}`));
      return textAnswer([...lines, ...restOf(left, more)].join('\n'));
    },
  }),
  tool({
    name: 'list_directory_with_sizes',
    operation: 'ListDirectory',
    description: 'List a directory with sizes.',
    input: { path, sortBy: z.enum(['name', 'size']).optional() },
    hints: READS,
    async run(args, place: Place) {
      const { files, more } = await listed(place, args.path, { limit: MAX_ENTRIES });
      const sorted = args.sortBy === 'size' ? files.toSorted((a, b) => b.size - a.size) : files;
      const all = sorted.map(
        (file) =>
          `${labelOf(file)} ${nameOf(file).padEnd(30)} ${isDirectory(file) ? '' : sizeText(file.size).padStart(10)}`,
      );
      const plain = files.filter((file) => !isDirectory(file));
      const total = sizeText(plain.reduce((sum, { size }) => sum + size, 0));
      const summary = `\nTotal: ${plain.length} files, ${files.length - plain.length} directories\nCombined size: ${total}`;
      const { lines, left } = fitting(all);
      return textAnswer([...lines, ...restOf(left, more), summary].join('\n'));
    },
  }),
  tool({
    name: 'directory_tree',
    operation: 'ListDirectory',
    description: 'A directory and all below it as JSON: name, type, children.',
    input: { path, excludePatterns },
    hints: READS,
    async run(args, place: Place) {
      const patterns = { exclude: (args.excludePatterns ?? []).map(patternOfTree) };
      const search = { path: args.path, patterns, limit: MAX_ENTRIES, most: MAX_ENTRIES };
      const { result, more } = await searched(place, search, (found) => found.tree(MAX_SHOWN));
      const answer = textAnswer(result.json);
      if (more) answer.content.push({ type: 'text', text: moreThan(MAX_ENTRIES) });
      if (result.more) answer.content.push({ type: 'text', text: TOO_LONG });
      return answer;
    },
  }),
  tool({
    name: 'search_files',
    operation: 'ListDirectory',
    description: `Find files and directories by glob, relative to path: *.ts there, **/*.ts at any depth.`,
    input: { path, pattern: z.string(), excludePatterns },
    hints: READS,
    async run(args, place: Place) {
      const patterns = { pattern: args.pattern, exclude: args.excludePatterns ?? [] };
      const search = { path: args.path, patterns, limit: MAX_SEARCHED, most: MAX_FOUND };
      const { result, more } = await searched(place, search, (found) => found.found());
      const directory = await workspacePath(place, args.path);
      const shown = (path: string) => onOneLine(shownPath(directory === '' ? path : `${directory}/${path}`));
      const { lines, left } = fitting(result.paths.map(shown));
      if (left + result.more > 0) lines.push(`[${left + result.more} more matches]`);
      if (more) lines.push(`[searched ${MAX_SEARCHED} entries only]`);
      return textAnswer(lines.length > 0 ? lines.join('\n') : 'No matches found');
    },
  }),
  tool({
    name: 'get_file_info',
    operation: 'StatFile',
    description: 'Size, time, type and permissions of a file or directory.',
    input: { path },
    hints: READS,
    async run(args, place: Place) {
      const { caller, sandbox_id } = place;
      const path = await workspacePath(place, args.path);
      const file = await caller.request('StatFile', { sandbox_id, as: 'agent', path });
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
    operation: undefined,
    description: 'The directory that all files are in.',
    input: {},
    hints: READS,
    run: async (_: object, __: Place) => textAnswer(`Allowed directories:\n${ROOT}`),
  }),
];

const TOO_LONG = `[the tree is longer than ${MAX_SHOWN} characters: the deepest entries are left out]`;

/** A pattern without `*` is a name at any depth. */
const patternOfTree = (pattern: string): string => (pattern.includes('*') ? pattern : `**/${pattern}`);

/** As many of the lines as fit in an answer. */
function fitting(all: readonly string[]): { lines: string[]; left: number } {
  let room = MAX_SHOWN;
  const end = all.findIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  const lines = end < 0 ? [...all] : all.slice(0, end);
  return { lines, left: all.length - lines.length };
}

/** What is said of entries that are left out. */
const restOf = (left: number, more: boolean): string[] => [
  ...(left > 0 ? [`[${left} more entries: the answer would have more than ${MAX_SHOWN} characters]`] : []),
  ...(more ? [moreThan(MAX_ENTRIES)] : []),
];
