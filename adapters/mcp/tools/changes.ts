import * as z from 'zod';
import { invalidArgument } from '../../../lib/errors.ts';
import { globsIn, workspacePaths } from '../paths.ts';
import { answerOf, CHANGES, type Place, READS, tool } from '../tool.ts';
import { chosenHunks, hunksIn, hunksOf } from './hunks.ts';
import { changesAs, changesShape } from './view.ts';

const choiceOf = (paths: string) => ({
  sandbox_id: z.string(),
  paths: z.array(z.string()).optional().describe(paths),
  all: z.boolean().optional(),
  exclude: z.array(z.string()).optional().describe('Globs, like src/**'),
});

export const changes = [
  tool({
    name: 'changes_list',
    operation: 'ListChanges',
    description: 'What a sandbox has changed, hidden files too.',
    input: {
      sandbox_id: z.string(),
      ...changesShape.input,
      hunks: z.boolean().optional().describe('Numbered'),
    },
    output: { ...changesShape.output, hunks: z.string().optional() },
    hints: READS,
    async run({ sandbox_id, paths = [], diff = false, hunks = false }, { caller }) {
      const shown = await changesAs('owner', { caller, sandbox_id }, paths, diff);
      if (!hunks) return shown;
      const text = await hunksOf({ caller, sandbox_id }, paths);
      return {
        content: [...shown.content, { type: 'text', text }],
        structuredContent: { ...shown.structuredContent, hunks: text },
      };
    },
  }),
  tool({
    name: 'changes_commit',
    operation: 'Commit',
    description: 'Apply changes of a sandbox to its codebase, all or nothing.',
    input: {
      ...choiceOf('These, or all: true'),
      on_conflict: z
        .enum(['ours', 'theirs'])
        .optional()
        .describe('By default a conflict fails; ours: the version of the sandbox'),
      dry_run: z.boolean().optional(),
      hunks: chosenHunks.optional(),
    },
    output: { committed: z.boolean(), count: z.int(), conflicts: z.array(z.string()) },
    hints: CHANGES,
    async run({ sandbox_id, paths, all, exclude = [], on_conflict = '', dry_run = false, hunks = [] }, { caller }) {
      const place = { caller, sandbox_id };
      const request = {
        sandbox_id,
        paths: hunks.length > 0 && paths === undefined ? [] : await chosen(place, paths, all),
        exclude: await globsIn(place, '', exclude),
        on_conflict,
        dry_run,
        hunks: await hunksIn(place, hunks),
      };
      const { committed, count, conflicts } = await caller.request('Commit', request);
      const conflicting = conflicts.length > 0 ? `; conflicts: ${conflicts.join(', ')}` : '';
      const text = `${committed ? 'committed' : 'would commit'} ${count} changes${conflicting}`;
      return answerOf(text, { committed, count, conflicts });
    },
  }),
  tool({
    name: 'changes_discard',
    operation: 'Discard',
    description: 'Drop changes: files become those of the codebase.',
    input: choiceOf('These, or all: true'),
    output: { discarded: z.int() },
    hints: CHANGES,
    async run({ sandbox_id, paths, all, exclude = [] }, { caller }) {
      const place = { caller, sandbox_id };
      const choice = { paths: await chosen(place, paths, all), exclude: await globsIn(place, '', exclude) };
      const { discarded } = await caller.request('Discard', { sandbox_id, ...choice });
      return answerOf(`discarded ${discarded} changes`, { discarded });
    },
  }),
];

/**
 * The paths of a request, in which none are all. The threat: a program that found no path names none, and all changes are
 * lost, or committed.
 */
async function chosen(place: Place, paths: readonly string[] = [], all = false): Promise<string[]> {
  if (all && paths.length > 0) throw invalidArgument('all', 'must be false if paths are named');
  if (all) return [];
  if (paths.length === 0) throw invalidArgument('paths', 'must name at least one path; use all: true for all changes');
  const named = await workspacePaths(place, paths);
  return named.includes('') ? [] : named;
}
