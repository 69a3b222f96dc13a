import { breaks } from '../../../breaks.ts';
import { type ByteString, fromLatin1, joinPath, ROOT_PATH } from '../../../byte-string.ts';
import type { Directory } from '../../../host-tree/directory.ts';
import { HostFileReader } from '../../../host-tree/host-file.ts';
import { OpenDirectories } from '../../../host-tree/open-directories.ts';
import { secretIn, secretNamed } from './secrets.ts';

/** Entries of a codebase that are looked at: about 2 MB of names. */
const MAX_ENTRIES = 10_000;
/** Files whose first bytes are read. */
const MAX_READ = 200;
const FIRST_BYTES = 4096;
/** Directories kept open for their entries. */
const MAX_OPEN = 4;

export interface NamedEntry {
  path: ByteString;
  /** Undefined for what is not a directory; otherwise whether it has entries. */
  directory: 'empty' | 'filled' | undefined;
}

/** What is known of the files of a codebase without its rules. */
export interface CodebaseNames {
  /** Directories before their entries. */
  entries: readonly NamedEntry[];
  secrets: readonly { path: ByteString; why: string }[];
  /** Whether all entries were looked at, and the first bytes of all files. */
  complete: { names: boolean; contents: boolean };
}

/** Reads names from the top down into `entries`, then the first bytes of files. The event loop is free in between. */
export async function readNames(root: string, entries: NamedEntry[] = []): Promise<CodebaseNames> {
  const names = await readTree(root, entries);
  const files = entries.filter(({ directory }) => directory === undefined);
  const secrets: { path: ByteString; why: string }[] = [];
  const unnamed: ByteString[] = [];
  for (const { path } of files) {
    if (secretNamed(path)) secrets.push({ path, why: 'its name' });
    else unnamed.push(path);
  }
  const reader = new HostFileReader();
  try {
    for (const path of unnamed.slice(0, MAX_READ)) {
      const why = secretIn(await firstBytes(root, path, reader).catch(() => ''));
      if (why !== undefined) secrets.push({ path, why });
    }
  } finally {
    await reader.close();
  }
  return { entries, secrets, complete: { names, contents: names && unnamed.length <= MAX_READ } };
}

/** Returns whether all entries were read. A directory that vanishes meanwhile is not. */
async function readTree(root: string, entries: NamedEntry[]): Promise<boolean> {
  const open = new OpenDirectories(root, MAX_OPEN);
  let complete = true;
  const waiting: (NamedEntry | undefined)[] = [undefined];
  try {
    // Grows during the loop: one level after the other.
    for (const dir of waiting) {
      const path = dir?.path ?? ROOT_PATH;
      const read = async (directory: Directory) => {
        for await (const entry of directory.entries()) {
          if (entries.length === MAX_ENTRIES) return false;
          const found: NamedEntry = {
            path: joinPath(path, fromLatin1(entry.name)),
            directory: entry.isDirectory() ? 'empty' : undefined,
          };
          if (dir !== undefined) dir.directory = 'filled';
          entries.push(found);
          if (found.directory) waiting.push(found);
          const due = breaks.due();
          if (due !== undefined) await due;
        }
        return true;
      };
      if (!(await open.use(path, read).catch(() => false))) complete = false;
      if (!complete && entries.length === MAX_ENTRIES) break;
    }
    return complete;
  } finally {
    await open.close();
  }
}

async function firstBytes(root: string, path: ByteString, reader: HostFileReader): Promise<string> {
  const handle = await reader.open({ root, path }).catch(() => undefined);
  if (handle === undefined) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(FIRST_BYTES), 0, FIRST_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
