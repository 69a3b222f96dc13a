import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES } from '../codebases/codebase-tree.ts';
import { CommitJournal, JOURNAL } from '../codebases/commit-journal.ts';
import { headOf } from '../codebases/tree/stored-head.ts';
import { ServiceError } from '../errors.ts';
import type { CodebaseRecord } from '../metadata/metadata.ts';
import { type Report, reasonOf } from './report.ts';

/**
 * Checks the directory of a codebase and the journal of a commit in it. Its files have no checksums and are not read.
 */
export async function verifyCodebase({ id, tree }: CodebaseRecord, path: string, report: Report): Promise<void> {
  report.counts.codebases++;
  const owner = `codebase ${id}`;
  if (tree !== undefined) {
    await report.attempt('its record', owner, () => headOf(tree));
    report.note(`${owner} is stored as a tree: its record was checked, its files were not`);
    return;
  }
  const directory = join(path, id);
  const files = join(directory, FILES);
  if (!(await requireDirectory(directory, owner, report))) return;
  await requireDirectory(files, owner, report);
  try {
    const commit = await new CommitJournal(directory, files).unfinished();
    if (commit !== undefined) report.note(`a commit to codebase ${id} is not finished: the next start finishes it`);
  } catch (error) {
    const what = error instanceof ServiceError ? 'the commit journal is damaged' : `cannot be read: ${reasonOf(error)}`;
    report.damage(what, join(directory, JOURNAL), owner);
  }
}

async function requireDirectory(path: string, owner: string, report: Report): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
    report.damage('it is not a directory', path, owner);
  } catch (error) {
    const missing = reasonOf(error) === 'ENOENT';
    report.damage(missing ? 'the folder is missing' : `cannot be read: ${reasonOf(error)}`, path, owner);
  }
  return false;
}
