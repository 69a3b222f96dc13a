import { existsSync, readFileSync } from 'node:fs';
import { markPath, wholeMark } from '../workspaces/delta/index/journal-mark.ts';
import type { Report } from './report.ts';

/** Verifies the mark of a journal. An empty file or one of zeros may result from a power failure. */
export function verifyMark(journal: string, owner: string, report: Report): void {
  const path = markPath(journal);
  if (!existsSync(path)) return;
  const text = readFileSync(path, 'latin1');
  if (wholeMark(text) !== undefined || text.replaceAll('\0', '') === '') return;
  report.damage('the mark of the journal does not match its checksum', path, owner);
}
