import * as z from 'zod';
import type { FileStat } from '../../../lib/contract/messages.ts';
import { invalidArgument } from '../../../lib/errors.ts';
import type { PathPatterns } from '../../../lib/text-tools/path-search.ts';
import { globsIn, onOneLine, within, workspacePath } from '../paths.ts';
import { type Place, READS, textAnswer, tool } from '../tool.ts';
import { isDirectory } from './file-info.ts';
import { SHOWN_BYTES } from './output-window.ts';
import { sizeText } from './size-text.ts';

const PAGE = 1000;
/** Entries that one call looks at. */
const MAX_SEARCHED = 50_000;
const MAX_FOUND = 1000;
/** Characters of all globs of a call together. */
const MAX_PATTERNS = 65_536;

export const fileList = tool({
  name: 'file_list',
  operation: 'ListDirectory',
  description:
    'List a directory, or find files by glob: paths, with sizes of files, a slash after directories. At most 20 kB.',
  input: {
    path: z.string().default('.'),
    recursive: z.boolean().optional().describe('All below it'),
    pattern: z.string().optional().describe('Glob relative to path: *.ts there, **/*.ts at any depth'),
    exclude: z.array(z.string()).max(100).optional().describe('Globs, with all below what they match'),
  },
  hints: READS,
  async run({ path, recursive, pattern, exclude = [] }, place: Place) {
    const directory = await workspacePath(place, path);
    const globs = await globsIn(place, directory, pattern === undefined ? [] : [pattern], 'pattern');
    const patterns = {
      ...(globs[0] !== undefined && { pattern: globs[0] }),
      exclude: await globsIn(place, directory, exclude),
    };
    checkSize(patterns);
    const walk = { directory, recursive: recursive ?? pattern !== undefined };
    const { lines, left, more } = await listed(place, walk, patterns);
    if (left > 0) lines.push(`[${left} more: choose path, pattern or exclude]`);
    if (more) lines.push(`[only ${MAX_SEARCHED} entries were looked at: choose path]`);
    return textAnswer(lines.length > 0 ? lines.join('\n') : '[nothing]');
  },
});

interface Walk {
  directory: string;
  recursive: boolean;
}

/** Matches globs in another thread, which takes long for hostile ones. `left`: found, but not shown. */
function listed(place: Place, walk: Walk, patterns: PathPatterns) {
  const { directory } = walk;
  return place.caller.inThread(async (tools) => {
    await tools.search(patterns);
    let more = false;
    for await (const page of pagesOf(place, walk)) {
      const paths = page.files.map((file) => ({ path: within(directory, file.path), line: lineOf(file) }));
      await tools.add(paths, MAX_FOUND);
      more = page.more;
    }
    const found = await tools.found();
    const lines = fitting(found.lines);
    return { lines, left: found.lines.length - lines.length + found.more, more };
  });
}

/** The entries that the agent sees, in byte order of their paths. */
async function* pagesOf({ caller, sandbox_id }: Place, { directory, recursive }: Walk) {
  let page_token = '';
  let left = MAX_SEARCHED;
  do {
    const request = { sandbox_id, as: 'agent', path: directory, recursive, page_size: PAGE, page_token };
    const page = await caller.request('ListDirectory', request);
    const files = page.files.slice(0, left);
    left -= files.length;
    page_token = page.next_page_token;
    yield { files, more: page_token !== '' || files.length < page.files.length };
  } while (page_token !== '' && left > 0);
}

function checkSize({ pattern = '', exclude }: PathPatterns): void {
  const size = exclude.reduce((sum, { length }) => sum + length, pattern.length);
  if (size <= MAX_PATTERNS) return;
  throw invalidArgument('exclude', `and pattern must have at most ${MAX_PATTERNS} characters together`);
}

function lineOf(file: FileStat): string {
  if (isDirectory(file)) return onOneLine(`${file.path}/`);
  if (file.type === 'TYPE_SYMLINK') return `${onOneLine(file.path)} -> ${onOneLine(file.target)}`;
  return `${onOneLine(file.path)} (${sizeText(file.size)})`;
}

/** As many of the lines as fit in an answer; the first one always. */
function fitting(all: readonly string[]): string[] {
  let room = SHOWN_BYTES;
  const end = all.findIndex((line, index) => {
    room -= line.length + 1;
    return room < 0 && index > 0;
  });
  return end < 0 ? [...all] : all.slice(0, end);
}
