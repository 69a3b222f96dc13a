import * as z from 'zod';
import type { Codebase, ForkResult, Sandbox } from '../../../lib/contract/messages.ts';
import { wordOf } from '../../../lib/errors.ts';
import { ADDS, answerOf, CHANGES, type Hints, READS, tool } from '../tool.ts';

const PAGE = 100;
const DESTROYS: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: true };

const globs = (of: string) => z.array(z.string()).optional().describe(of);
const NO_PATTERNS = { write: [], read: [], view: [], none: [], scratch: [], redacted: [], shown: [] };
const RULES = {
  write: globs('May be changed'),
  read: globs('May be read only'),
  view: globs('Names and sizes only'),
  none: globs('Do not exist for the agent'),
  scratch: globs('May be changed, and are never committed'),
  redacted: globs('May be read, with placeholders for secrets'),
};
const shownSandbox = {
  sandbox_id: z.string(),
  codebase_id: z.string(),
  status: z.string(),
  labels: z.record(z.string(), z.string()),
  expires_at: z.int(),
};

const shown = ({ id, codebase_id, status, labels, expires_at }: Sandbox) => ({
  sandbox_id: id,
  codebase_id,
  status: wordOf(status),
  labels,
  expires_at,
});

const json = (value: Record<string, unknown>) => answerOf(JSON.stringify(value), value);

export const sandboxes = [
  tool({
    name: 'sandbox_create',
    operation: 'CreateSandbox',
    description: 'Create a sandbox on a codebase, with rules (globs).',
    input: {
      codebase_id: z.string(),
      preset: z
        .enum(['development', 'agent-safe', 'read-only', 'full-access', 'none'])
        .optional()
        .describe('By default development, with rules agent-safe; the rules are added to it'),
      rules: z.object(RULES).optional(),
      labels: z.record(z.string(), z.string()).optional(),
      expires_in: z.int().optional().describe('Seconds'),
    },
    output: shownSandbox,
    hints: ADDS,
    async run({ codebase_id, preset, rules, labels = {}, expires_in = 0 }, { caller }) {
      const chosen = preset ?? presetFor(rules);
      const short = rules && { ...NO_PATTERNS, ...defined(rules) };
      const named = { preset: chosen === 'none' ? '' : chosen, ...(short && { rules: short }) };
      const request = { codebase_id, labels, expires_in, ...named };
      return json(shown(await caller.request('CreateSandbox', request)));
    },
  }),
  tool({
    name: 'sandbox_list',
    operation: 'ListSandboxes',
    description: 'List sandboxes, the newest first.',
    input: { codebase_id: z.string().optional(), page_token: z.string().optional() },
    output: { sandboxes: z.array(z.object(shownSandbox)), next_page_token: z.string() },
    hints: READS,
    async run({ codebase_id = '', page_token = '' }, { caller }) {
      const answer = await caller.request('ListSandboxes', { codebase_id, page_token, page_size: PAGE });
      return json({ sandboxes: answer.sandboxes.map(shown), next_page_token: answer.next_page_token });
    },
  }),
  tool({
    name: 'sandbox_fork',
    operation: 'Fork',
    description: 'Copy a sandbox with its changes, now or at a checkpoint.',
    input: { sandbox_id: z.string(), count: z.int().min(1).max(100).optional(), checkpoint: z.string().optional() },
    output: { forks: z.array(z.object({ sandbox_id: z.string().optional(), error: z.string().optional() })) },
    hints: ADDS,
    async run({ sandbox_id, count = 1, checkpoint = '' }, { caller }) {
      const { results } = await caller.request('Fork', { sandbox_id, count, checkpoint });
      const forks = results.map(({ sandbox, error }: ForkResult) =>
        sandbox ? { sandbox_id: sandbox.id } : { error: error?.message },
      );
      return json({ forks });
    },
  }),
  tool({
    name: 'sandbox_destroy',
    operation: 'DestroySandbox',
    description: 'Destroy a sandbox and its uncommitted changes.',
    input: { sandbox_id: z.string(), discard: z.boolean().optional().describe('Also if automatic commit fails') },
    output: { destroyed: z.boolean() },
    hints: DESTROYS,
    async run({ sandbox_id, discard = false }, { caller }) {
      await caller.request('DestroySandbox', { sandbox_id, discard });
      return json({ destroyed: true });
    },
  }),
  tool({
    name: 'checkpoint_create',
    operation: 'CreateCheckpoint',
    description: 'Store a named snapshot of the files of a sandbox.',
    input: { sandbox_id: z.string(), name: z.string() },
    output: { name: z.string(), files: z.int(), bytes: z.int() },
    hints: ADDS,
    async run({ sandbox_id, name }, { caller }) {
      const { files, bytes } = await caller.request('CreateCheckpoint', { sandbox_id, name });
      return json({ name, files, bytes });
    },
  }),
  tool({
    name: 'checkpoint_restore',
    operation: 'Rollback',
    description: 'Return the files of a sandbox to a checkpoint. Later changes are lost.',
    input: { sandbox_id: z.string(), checkpoint: z.string() },
    output: shownSandbox,
    hints: CHANGES,
    run: async (request, { caller }) => json(shown(await caller.request('Rollback', request))),
  }),
  tool({
    name: 'codebase_create',
    operation: 'CreateCodebase',
    description: 'Create an empty codebase. Files get into it by changes_commit of a sandbox on it.',
    input: { name: z.string() },
    output: { codebase_id: z.string() },
    hints: ADDS,
    run: async (request, { caller }) => json({ codebase_id: (await caller.request('CreateCodebase', request)).id }),
  }),
  tool({
    name: 'codebase_list',
    operation: 'ListCodebases',
    description: 'List codebases, the newest first.',
    input: { page_token: z.string().optional() },
    output: {
      codebases: z.array(z.object({ codebase_id: z.string(), name: z.string() })),
      next_page_token: z.string(),
    },
    hints: READS,
    async run({ page_token = '' }, { caller }) {
      const { codebases, next_page_token } = await caller.request('ListCodebases', { page_token, page_size: PAGE });
      return json({
        codebases: codebases.map(({ id, name }: Codebase) => ({ codebase_id: id, name })),
        next_page_token,
      });
    },
  }),
];

/** As the clients do: clients/spec/presets.json. */
function presetFor(rules: Readonly<Record<string, readonly string[] | undefined>> = {}): string {
  return Object.entries(rules).some(([list, patterns]) => list !== 'shown' && patterns?.length)
    ? 'agent-safe'
    : 'development';
}

const defined = (value: object) => Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
