import { DurableFile } from '../metadata/durable-file.ts';
import { DamagedError, parseState, type State } from '../metadata/format.ts';
import { type Report, reasonOf } from './report.ts';

const OWNER = 'all codebases and sandboxes';

/** Reads the metadata in the file `path`; its backup if only that is intact; undefined if neither is. */
export async function readMetadata(path: string, report: Report): Promise<State | undefined> {
  const file = new DurableFile(path);
  const state = await read(path, report);
  const before = await read(file.backup, report);
  if (state === 'absent' && before === 'absent') report.damage('the metadata is missing', path, OWNER);
  else if (state === 'absent') report.damage('the metadata is missing; there is a backup', path, OWNER);
  if (typeof state === 'object') return state;
  if (typeof before !== 'object') {
    report.note('without metadata nothing else can be checked');
    return undefined;
  }
  report.note(`the records of codebases and sandboxes are those of the backup ${file.backup}, before the last change`);
  return before;
}

async function read(path: string, report: Report): Promise<State | 'absent' | undefined> {
  try {
    const content = await new DurableFile(path).read();
    return content === undefined ? 'absent' : parseState(content.toString('utf8'));
  } catch (error) {
    const what = error instanceof DamagedError ? error.message : `cannot be read: ${reasonOf(error)}`;
    report.damage(`the metadata ${what}`, path, OWNER);
    return undefined;
  }
}
