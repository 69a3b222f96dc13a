import * as z from 'zod';
import type { ChosenHunks, FileChange, Hunk } from '../../../lib/contract/messages.ts';
import { invalidArgument } from '../../../lib/errors.ts';
import { onOneLine, workspacePath, workspacePaths } from '../paths.ts';
import type { Place } from '../tool.ts';
import { OutputWindow } from './output-window.ts';

/** Changes compared at once. */
const PAGE_SIZE = 100;

/** A choice of hunks of one file, as one text: a model copies path and version. */
export const chosenHunks = z.array(z.string()).describe('"PATH VERSION 0,2" of changes_list');

const CHOICE = /^(.+) ([0-9a-f]{64})-([0-9a-f]{64}) (\d{1,5}(?:,\d{1,5})*)$/s;

export async function hunksIn(place: Place, choices: readonly string[]): Promise<ChosenHunks[]> {
  const all: ChosenHunks[] = [];
  for (const [index, choice] of choices.entries()) {
    const [, path, base_sha256, sha256, indexes] = CHOICE.exec(choice) ?? [];
    if (path === undefined)
      throw invalidArgument(
        `hunks[${index}]`,
        'must be "PATH VERSION INDEXES", like "src/a.ts VERSION 0,2" of changes_list',
      );
    all.push({
      path: await workspacePath(place, path, `hunks[${index}]`),
      base_sha256: base_sha256!,
      sha256: sha256!,
      indexes: indexes!.split(',').map(Number),
    });
  }
  return all;
}

/** The hunks of modified and renamed files with the version that a commit of some of them names, as text for a model. */
export async function hunksOf(place: Place, only: readonly string[]): Promise<string> {
  const { caller, sandbox_id } = place;
  const window = new OutputWindow();
  const paths = (await workspacePaths(place, only)).filter((each) => each !== '');
  for (let page_token = ''; ; ) {
    const request = { sandbox_id, paths, page_size: PAGE_SIZE, page_token, diff: true };
    const page = await caller.request('ListChanges', request);
    for (const change of page.changes) window.append(Buffer.from(fileText(change)));
    page_token = page.next_page_token;
    if (page_token === '' || window.shown.omitted > 0) break;
  }
  const { before, after, omitted } = window.shown;
  return omitted > 0 ? `${before}\n[${omitted} bytes of hunks left out: choose paths]\n${after}` : before;
}

function fileText({ path, kind, renamed_from, diff }: FileChange): string {
  if (diff === undefined) return '';
  const name = onOneLine(path);
  const from = kind !== 'CHANGE_ADDED' || renamed_from === '' ? '' : `renamed from ${onOneLine(renamed_from)}\n`;
  if (diff.no_hunks !== '') return `${name}: no hunks (${diff.no_hunks})\n${from}`;
  const head = `${name} ${diff.base_sha256}-${diff.sha256}\n${from}`;
  return head + diff.hunks.map((hunk, index) => `#${index} line ${hunk.old_start}\n${hunkText(hunk)}`).join('');
}

const hunkText = ({ removed, added }: Hunk): string => marked('-', removed) + marked('+', added);

const marked = (mark: string, lines: string): string =>
  (lines.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => `${mark}${line.replace(/\n$/, '')}\n`).join('');
