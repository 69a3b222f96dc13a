import type { FileStat } from '../../../lib/contract/messages.ts';
import { invalidArgument } from '../../../lib/errors.ts';
import type { PathPatterns } from '../../../lib/text-tools/path-search.ts';
import type { TextTools } from '../../../lib/text-tools/text-tools.ts';
import type { Remote } from '../../../lib/threads/thread-pool.ts';
import { globsIn, onOneLine, within, workspacePath } from '../paths.ts';
import type { Place } from '../tool.ts';

const PAGE = 1000;

export interface Listing {
  /** Path of the directory. */
  directory: string;
  files: FileStat[];
  /** Whether there are more than were asked for. */
  more: boolean;
}

interface Limits {
  recursive?: boolean;
  limit: number;
}

/** The entries of a directory that the agent sees, of all below it with `recursive`, in byte order of their paths. */
export async function listed(place: Place, path: string, limits: Limits): Promise<Listing> {
  const directory = await workspacePath(place, path);
  const files: FileStat[] = [];
  let more = false;
  for await (const page of pagesOf(place, directory, limits)) {
    files.push(...page.files);
    more = page.more;
  }
  return { directory, files, more };
}

async function* pagesOf({ caller, sandbox_id }: Place, path: string, { recursive = false, limit }: Limits) {
  let page_token = '';
  let left = limit;
  do {
    const request = { sandbox_id, as: 'agent', path, recursive, page_size: PAGE, page_token };
    const page = await caller.request('ListDirectory', request);
    const files = page.files.slice(0, left);
    left -= files.length;
    page_token = page.next_page_token;
    yield { files, more: page_token !== '' || files.length < page.files.length };
  } while (page_token !== '' && left > 0);
}

/** Characters of all globs of a search together. */
const MAX_PATTERNS = 65_536;

/**
 * Searches in all below a directory, in another thread. `use` gets what keeps the first `most` that match. `more`: the
 * directory has more entries than `limit`.
 */
export async function searched<T>(
  place: Place,
  { path, patterns, limit, most }: { path: string; patterns: PathPatterns; limit: number; most: number },
  use: (found: Remote<TextTools>) => Promise<T>,
): Promise<{ result: T; more: boolean }> {
  const size = patterns.exclude.reduce((sum, { length }) => sum + length, patterns.pattern?.length ?? 0);
  if (size > MAX_PATTERNS) {
    throw invalidArgument('excludePatterns', `and pattern must have at most ${MAX_PATTERNS} characters together`);
  }
  const directory = await workspacePath(place, path);
  const [pattern] = await globsIn(place, directory, [patterns.pattern ?? ''].filter(Boolean), 'pattern');
  const exclude = await globsIn(place, directory, patterns.exclude, 'excludePatterns');
  return place.caller.inThread(async (tools) => {
    await tools.search({ exclude, ...(pattern !== undefined && { pattern }) });
    let more = false;
    for await (const page of pagesOf(place, directory, { recursive: true, limit })) {
      const paths = page.files.map((file) => ({
        path: within(directory, file.path),
        isDirectory: isDirectory(file),
      }));
      await tools.add(paths, most);
      more = page.more;
    }
    return { result: await use(tools), more };
  });
}

export const isDirectory = ({ type }: FileStat): boolean => type === 'TYPE_DIRECTORY';

export const nameOf = ({ path }: FileStat): string => onOneLine(path.slice(path.lastIndexOf('/') + 1));

export const moreThan = (limit: number): string => `[more than ${limit} entries: the rest is left out]`;
