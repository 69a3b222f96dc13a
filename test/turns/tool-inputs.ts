import type { Code } from '../../lib/errors.ts';
import { MIB, type World } from './world.ts';

interface ToolInput {
  args: Record<string, unknown>;
  /** The code of its refusal; absent: it is permitted. */
  code?: Code;
}

const range = <T>(length: number, of: (n: number) => T): T[] => Array.from({ length }, (_, n) => of(n));
const permitted = (...all: ToolInput['args'][]): ToolInput[] => all.map((args) => ({ args }));
const refused = (code: Code, ...all: ToolInput['args'][]): ToolInput[] => all.map((args) => ({ args, code }));
/** Few: the time of a search is that of another thread. */
const globs = range(2, (n) => `**/*${'n'.repeat(100)}${'?'.repeat(n % 8)}b*`);
/** Escaped in JSON as six characters each. */
const text = '\u0001'.repeat(MIB);
const deep = `deep/${'d/'.repeat(1900)}`;

/** Those of which the largest arguments are more than a path. */
const named: Readonly<Record<string, (world: World) => ToolInput[]>> = {
  exec: () => permitted({ command: `: ${'\u0001'.repeat(100_000)}` }, { command: 'yes | head -c 50000000' }),
  process: ({ ended, reading }) =>
    permitted({ id: ended, offset: 0 }, { id: reading, input: '\u0001'.repeat(MIB), wait: 0 }),
  session_exec: () => permitted({ command: `: ${'\u0001'.repeat(100_000)}` }, { command: 'yes | head -c 50000000' }),
  file_read: () => permitted(...['control', 'ticks', 'lines'].map((path) => ({ path, limit: 200_000, offset: 100 }))),
  file_read_media: () => permitted({ path: 'media.png' }),
  file_write: () => permitted({ path: 'written', content: text }, { path: 'written', content: 'x'.repeat(7 * MIB) }),
  directory_create: () => permitted({ path: `created/${'c/'.repeat(1900)}` }),
  file_move: () => permitted({ source: 'created', destination: 'renamed' }),
  file_edit: () => [
    ...refused(
      'INVALID_ARGUMENT',
      { path: 'lines', edits: [{ oldText: ` \n`.repeat(400_000), newText: '' }] },
      { path: 'lines', edits: range(100, () => ({ oldText: '\n', newText: ' \n', replace_all: true })) },
      { path: 'lines', edits: range(100, () => ({ oldText: '\n', newText: '\n', replace_all: true })) },
      { path: 'ticks', edits: [{ oldText: '`', newText: 'x'.repeat(1_000_000), replace_all: true }] },
    ),
    ...permitted(
      { path: 'lines', edits: [{ oldText: '\n', newText: ' \n', replace_all: true }], dryRun: true },
      { path: 'ticks', edits: [{ oldText: '`', newText: 'x', replace_all: true }], dryRun: true },
      { path: 'ticks', edits: [{ oldText: '`'.repeat(600_000), newText: 'x', replace_all: true }], dryRun: true },
      {
        path: 'control',
        edits: [{ oldText: '\u0001'.repeat(600_000), newText: '\u0001'.repeat(400_000), replace_all: true }],
        dryRun: true,
      },
    ),
  ],
  file_list: () =>
    permitted(
      ...['wide', 'deep', 'long'].map((path) => ({ path, recursive: true })),
      { path: 'wide', pattern: '**', exclude: globs },
      { path: '.', pattern: `**/${'{a,n}'.repeat(8)}*` },
    ),
  file_grep: () => permitted({ pattern: '\u0001' }, { pattern: 'n', path: 'wide', files: globs[0] }),
  changes_list: () => permitted({ diff: true }),
  sandbox_create: ({ codebase_id }) =>
    permitted({ codebase_id, rules: { write: range(200, (n) => `w${n}/${'*a?'.repeat(20)}/**`) } }),
  sandbox_fork: () => permitted({ count: 2 }),
  checkpoint_create: () => permitted({ name: 'two' }),
  checkpoint_restore: () => permitted({ checkpoint: 'two' }),
  codebase_create: () => permitted({ name: 'n'.repeat(255) }),
  changes_commit: () => permitted({ all: true, dry_run: true, exclude: range(900, (n) => `**/${'x'.repeat(60)}${n}`) }),
  changes_discard: () => {
    const paths = range(10_000, (n) => `wide/${'n'.repeat(245)}${String(n + 1).padStart(5, '0')}`);
    return [...refused('INVALID_ARGUMENT', { paths: [...paths, 'wide'] }), ...permitted({ paths })];
  },
  sandbox_destroy: () => permitted({ discard: true }),
};

/** The largest arguments of a tool with this input; those of an orchestrator have `sandbox_id`, too. */
export function toolInputs(name: string, input: object, world: World): ToolInput[] {
  return named[name]?.(world) ?? permitted('path' in input ? { path: deep } : {});
}

/** The names in the order of the calls. */
export function inOrderOfTools(names: readonly string[]): string[] {
  const known = Object.keys(named);
  return names.toSorted((a, b) => known.indexOf(a) - known.indexOf(b));
}
