import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Gathered } from '../../archive/gathered.ts';
import { readArchive } from '../../archive/read-archive.ts';
import type { Unzstd } from '../../archive/unzstd.ts';
import { removeTree } from '../../host-tree/remove-tree.ts';
import type { Log } from '../../log.ts';
import type { Remote, Threads } from '../../threads/thread-pool.ts';
import type { Contents } from '../totals.ts';
import { OLD } from './graft.ts';
import type { StagedLimits } from './refused-imports.ts';
import { type StagedCounts, TREE } from './staged-tree.ts';
import type { Staged, TreeImport } from './tree-import.ts';

const run = promisify(execFile);

/** Threads that archives of codebases are read and written in. */
export interface ArchiveThreads {
  imports: Threads<TreeImport>;
  unzstd: Threads<Unzstd>;
}

/** The codebase that an archive is imported into. */
export interface ImportTarget {
  /** Directory for files in preparation, on the disk of the codebase. */
  incoming: string;
  /** The most that the codebase may hold, which an archive can never exceed. Counts the codebase if necessary. */
  limits(): Promise<StagedLimits>;
  /**
   * Changes the codebase to have the staged tree, in one step for its other users, and durably. The staging directory is
   * taken over; what it holds afterwards has no use. Returns the revision of the codebase afterwards.
   */
  graft(remote: Remote<TreeImport>, staging: string, staged: Readonly<Contents>): Promise<string>;
}

/**
 * Imports an archive: it is written beside the codebase as it arrives, synced with its disk at once, and then made
 * visible. An error before that leaves the codebase as it was, with the staged files removed in the background.
 */
export async function importArchive(
  archive: AsyncIterable<Uint8Array>,
  target: ImportTarget,
  threads: ArchiveThreads,
  log: Log,
): Promise<StagedCounts & { revision: string }> {
  const limits = await target.limits();
  const { remote, release } = await threads.imports.take();
  const staging = join(target.incoming, randomUUID());
  try {
    await mkdir(staging, { mode: 0o700 });
    await mkdir(join(staging, TREE), { mode: 0o755 });
    await mkdir(join(staging, OLD), { mode: 0o700 });
    const { counts, contents } = await stage(remote, staging, limits, archive, threads.unzstd);
    // Before the turn of this change, which the others of the codebase wait for.
    await run('sync', ['-f', staging], { env: {} });
    const revision = await target.graft(remote, staging, contents);
    return { ...counts, revision };
  } finally {
    await release();
    removeLater(staging, log);
  }
}

async function stage(
  remote: Remote<TreeImport>,
  staging: string,
  limits: StagedLimits,
  archive: AsyncIterable<Uint8Array>,
  unzstd: Threads<Unzstd>,
): Promise<Staged> {
  await remote.open(staging, limits);
  const gathered = new Gathered((bytes) => remote.feed(bytes));
  try {
    await readArchive(archive, unzstd, (piece) => gathered.add(piece));
    await gathered.end();
  } finally {
    await gathered.settled();
  }
  return remote.finish();
}

/** Removes a directory below that of incoming files: at the next start at the latest. */
export function removeLater(directory: string, log: Log): void {
  removeTree(directory).catch((err: unknown) =>
    log.error('remains of an import could not be removed', { directory, err }),
  );
}

/** Has a directory moved to a new name in `incoming`, and removes it there while other changes are made. */
export async function removingLater(incoming: string, move: (aside: string) => Promise<void>, log: Log): Promise<void> {
  const aside = join(incoming, randomUUID());
  await move(aside);
  removeLater(aside, log);
}
