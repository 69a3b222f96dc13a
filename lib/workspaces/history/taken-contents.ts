import type { ByteString } from '../../byte-string.ts';
import { S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { isRedactedLevel, type RuleState } from '../../permissions/index.ts';
import { MAX_COMPARED } from '../base/base.ts';
import { Damage } from '../delta/damage.ts';
import type { Inode } from '../delta/index/inode.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { WorkspaceChange } from '../workspaces.ts';
import type { Present } from './present.ts';

/** Bytes that one listing takes along; the main thread holds them until they are used. */
const MAX_BYTES = 4 << 20;

/**
 * The contents of small files that a listing of changes takes along: it reads most of them anyway, to compare them with the
 * base. Those for which there is no room are asked for by `contents`.
 */
export class TakenContents {
  readonly #workspace: LayeredWorkspace;
  #room = MAX_BYTES;

  constructor(workspace: LayeredWorkspace) {
    this.#workspace = workspace;
  }

  /** Returns the contents of a small file if the base's file at the path is likely to be one of the same size. */
  ifAsLarge(path: ByteString, now: Present | undefined, { level }: RuleState): Buffer | undefined {
    const inode = now?.inode;
    if (inode === undefined || !isSmall(inode) || inode.size > MAX_COMPARED || isRedactedLevel(level)) return undefined;
    const [, mode, size] = this.#workspace.delta.table.baseVersions.get(path) ?? [];
    return mode !== undefined && (mode & S_IFMT) === S_IFREG && size === inode.size ? this.#read(inode) : undefined;
  }

  /** Adds the contents to a change that has some. `bytes`: if they were read already. */
  addTo(change: WorkspaceChange, present: Present | undefined, bytes: Buffer | undefined): void {
    const inode = present?.inode;
    if (inode === undefined || !change.contentChanged || change.now?.small !== true || inode.size > this.#room) return;
    const contents = bytes ?? this.#read(inode);
    if (contents === undefined) return;
    this.#room -= contents.length;
    change.contents = contents;
  }

  #read(inode: Inode): Buffer | undefined {
    if (!isSmall(inode)) return undefined;
    try {
      return this.#workspace.delta.small(inode);
    } catch (error) {
      // The commit finds the damage when it asks for the contents.
      if (error instanceof Damage) return undefined;
      throw error;
    }
  }
}

const isSmall = ({ mode, data, hasFile }: Inode) => (mode & S_IFMT) === S_IFREG && data !== undefined && !hasFile;

/**
 * Returns the contents of inodes without a host file; undefined for an inode that no longer exists or has one. Throws
 * Damage.
 */
export function smallContents(workspace: LayeredWorkspace, inodes: readonly number[]): (Uint8Array | undefined)[] {
  return inodes.map((id) => {
    const inode = workspace.delta.table.get(id);
    return inode?.data === undefined || inode.hasFile ? undefined : workspace.delta.small(inode);
  });
}
