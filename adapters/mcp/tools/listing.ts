import { Breaks } from '../../../lib/breaks.ts';
import type { FileStat } from '../../../lib/contract/messages.ts';
import type { Glob } from '../glob.ts';
import { onOneLine, within, workspacePath } from '../paths.ts';
import type { Place } from '../tool.ts';

const PAGE = 1000;

export interface Listing {
  /** Path of the directory. */
  directory: string;
  files: FileStat[];
  /** Whether there are more than were asked for. */
  more: boolean;
}

/** The entries of a directory that the agent sees, of all below it with `recursive`, in byte order of their paths. */
export async function listed(
  { caller, sandbox_id }: Place,
  path: string,
  { recursive = false, limit }: { recursive?: boolean; limit: number },
): Promise<Listing> {
  const directory = workspacePath(path);
  const files: FileStat[] = [];
  let page_token = '';
  do {
    const request = { sandbox_id, as: 'agent', path: directory, recursive, page_size: PAGE, page_token };
    const page = await caller.request('ListDirectory', request);
    files.push(...page.files);
    page_token = page.next_page_token;
  } while (page_token !== '' && files.length < limit);
  return { directory, files: files.slice(0, limit), more: page_token !== '' || files.length > limit };
}

/** The files that match, with their paths in the directory, if no pattern matches the path or that of a directory above. */
export async function included(
  { directory, files }: Listing,
  excluded: readonly Glob[],
  matches: Glob = () => true,
): Promise<{ path: string; file: FileStat }[]> {
  const found: { path: string; file: FileStat }[] = [];
  const left = new Set<string>();
  const breaks = new Breaks();
  for (const file of files) {
    const path = within(directory, file.path);
    if (isBelow(path, left)) continue;
    if (excluded.some((excludes) => excludes(path))) left.add(path);
    else if (matches(path)) found.push({ path, file });
    await breaks.due();
  }
  return found;
}

function isBelow(path: string, directories: ReadonlySet<string>): boolean {
  if (directories.size === 0) return false;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    if (directories.has(path.slice(0, at))) return true;
  }
  return false;
}

export const isDirectory = ({ type }: FileStat): boolean => type === 'TYPE_DIRECTORY';

export const nameOf = ({ path }: FileStat): string => onOneLine(path.slice(path.lastIndexOf('/') + 1));

export const moreThan = (limit: number): string => `[more than ${limit} entries: the rest is left out]`;
