import * as z from 'zod';
import type { FileChange } from '../../../lib/contract/messages.ts';
import { wordOf } from '../../../lib/errors.ts';
import { onOneLine, shownPath, workspacePath, workspacePaths } from '../paths.ts';
import { answerOf, type Place, READS, type ToolAnswer, tool } from '../tool.ts';
import { OutputWindow } from './output-window.ts';

const MAX_CHANGES = 1000;

export const explainAccess = tool({
  name: 'access_explain',
  operation: 'ExplainPermission',
  description: 'Why a path is readable, writable or only visible.',
  input: { path: z.string() },
  output: { path: z.string(), access: z.string(), reason: z.string(), rule: z.string().optional() },
  hints: READS,
  async run({ path }, place: Place) {
    const { caller, sandbox_id } = place;
    const request = { sandbox_id, as: 'agent', path: await workspacePath(place, path) };
    const { permission, reason, winner } = await caller.request('ExplainPermission', request);
    const access = wordOf(permission);
    const rule = winner?.rule?.pattern;
    return answerOf(reason, { path: shownPath(request.path), access, reason, ...(rule !== undefined && { rule }) });
  },
});

export const changesShape = {
  input: {
    paths: z.array(z.string()).optional().describe('Only these'),
    diff: z.boolean().optional().describe('With a diff, cut at 20 kB'),
  },
  output: {
    changes: z.array(
      z.object({
        path: z.string(),
        change: z.enum(['added', 'modified', 'deleted']),
        conflict: z.boolean().optional(),
      }),
    ),
    more: z.boolean().optional(),
    diff: z.string().optional(),
  },
};

export const showChanges = tool({
  name: 'changes_list',
  operation: 'ListChanges',
  description: 'What differs from the codebase that the sandbox started from.',
  ...changesShape,
  hints: READS,
  run: ({ paths, diff }, place: Place) => changesAs('agent', place, paths ?? [], diff ?? false),
});

export async function changesAs(
  as: 'agent' | 'owner',
  place: Place,
  only: readonly string[],
  withDiff: boolean,
): Promise<ToolAnswer> {
  const { caller, sandbox_id } = place;
  const paths = (await workspacePaths(place, only)).filter((each) => each !== '');
  const choice = { sandbox_id, as, paths };
  const { changes, next_page_token } = await caller.request('ListChanges', { ...choice, page_size: MAX_CHANGES });
  const more = next_page_token !== '';
  const lines = changes.map((each) => `${markOf(each)} ${onOneLine(each.path)}${each.conflict ? ' (conflict)' : ''}`);
  if (changes.length === 0) lines.push('[no changes]');
  if (more) lines.push(`[more than ${MAX_CHANGES} changes]`);
  const diff = withDiff && changes.length > 0 ? await diffOf(caller, choice) : undefined;
  return answerOf([lines.join('\n'), ...(diff === undefined ? [] : [diff])].join('\n\n'), {
    changes: changes.map(({ path, kind, conflict }) => ({ path, change: WORDS[kind], ...(conflict && { conflict }) })),
    ...(more && { more }),
    ...(diff !== undefined && { diff }),
  });
}

const WORDS = { CHANGE_ADDED: 'added', CHANGE_MODIFIED: 'modified', CHANGE_DELETED: 'deleted' } as const;

const markOf = ({ kind }: FileChange): string => WORDS[kind][0]!.toUpperCase();

async function diffOf(caller: Place['caller'], choice: object): Promise<string> {
  const window = new OutputWindow();
  await caller.use(
    'ExportChanges',
    { ...choice, format: 'patch' },
    async (parts: AsyncIterable<{ data: Uint8Array }>) => {
      for await (const { data } of parts) window.append(data);
    },
  );
  const { before, after, omitted } = window.shown;
  return omitted > 0 ? `${before}\n[${omitted} bytes of the diff left out: choose paths]\n${after}` : before;
}
