import type { HostFile } from '../../../host-tree/host-file.ts';
import type { Entry } from '../../../trees/format/entry.ts';
import type { OwnFile } from '../items.ts';

/**
 * Contents of the files of one live tree. A change is in the tree and its journal on return. Each call throws Damage, EDQUOT,
 * Postponed and host errors; nothing that can be seen has changed then.
 */
export interface TreeFileContents {
  /** Reads whatever the key names: of the sandbox, of its codebase, or of a sandbox that it was forked from. */
  read(entry: Entry, offset: number, into: Buffer): number;
  /** The host file that has the contents from its first byte on; undefined: there is none. */
  hostFile(entry: Entry): HostFile | undefined;
  /** Copies contents first that others have, too. Returns the bytes written: fewer if the disk became full, but at least one. */
  write(file: OwnFile, offset: number, data: Buffer): number;
  truncate(file: OwnFile, size: number): void;
  /** Other contents, which are text of the agent. At most `SMALL` bytes. */
  makeText(file: OwnFile, bytes: Buffer): void;
  /**
   * Makes a file durable, or without one all that has changed so far. Returns the cause of the answer; undefined: it is
   * durable. `datasync`: as fdatasync(2).
   */
  sync(file: OwnFile | undefined, datasync: boolean): number | undefined;
  /** The last name and the last opener are gone. */
  released(entry: Entry): void;
}
