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
const ends = (path: string) => [
  { path, head: 1e9 },
  { path, tail: 1e9 },
];

/** The largest arguments of each tool; those of an orchestrator have `sandbox_id`, too. In the order of the calls. */
export const toolInputs: Readonly<Record<string, (world: World) => ToolInput[]>> = {
  exec: () => permitted({ command: `: ${'\u0001'.repeat(100_000)}` }, { command: 'yes | head -c 50000000' }),
  process: ({ ended, reading }) =>
    permitted({ id: ended, offset: 0 }, { id: reading, input: '\u0001'.repeat(MIB), wait: 0 }),
  read_text_file: () => [
    ...refused('OUT_OF_RANGE', { path: 'control' }, ...ends('control'), ...ends('lines')),
    ...permitted(...ends('ticks')),
  ],
  read_media_file: () => permitted({ path: 'media.png' }),
  read_multiple_files: () => [
    ...permitted({ paths: range(100, () => 'control') }, { paths: range(16, () => deep) }),
    ...refused('INVALID_ARGUMENT', { paths: range(18, () => deep) }),
  ],
  write_file: () => permitted({ path: 'written', content: text }, { path: 'written', content: 'x'.repeat(7 * MIB) }),
  create_directory: () => permitted({ path: `created/${'c/'.repeat(1900)}` }),
  move_file: () => permitted({ source: 'created', destination: 'renamed' }),
  edit_file: () => [
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
  list_directory: () => permitted({ path: 'wide' }),
  list_directory_with_sizes: () => permitted({ path: 'wide', sortBy: 'size' }),
  directory_tree: () =>
    permitted(...['wide', 'deep', 'long'].map((path) => ({ path })), { path: '.', excludePatterns: globs }),
  search_files: () =>
    permitted(
      { path: 'wide', pattern: '**', excludePatterns: globs },
      { path: '.', pattern: `**/${'{a,n}'.repeat(8)}*` },
    ),
  get_file_info: () => permitted({ path: deep }),
  list_allowed_directories: () => permitted({}),
  explain_access: () => permitted({ path: deep }),
  show_changes: () => permitted({ diff: true }),
  sandbox_create: ({ codebase_id }) =>
    permitted({ codebase_id, rules: { write: range(200, (n) => `w${n}/${'*a?'.repeat(20)}/**`) } }),
  sandbox_list: () => permitted({}),
  sandbox_fork: () => permitted({ count: 2 }),
  checkpoint: () => permitted({ name: 'two' }),
  rollback: () => permitted({ checkpoint: 'two' }),
  codebase_create: () => permitted({ name: 'n'.repeat(255) }),
  codebases_list: () => permitted({}),
  changes_show: () => permitted({ diff: true }),
  changes_commit: () => permitted({ all: true, dry_run: true, exclude: range(900, (n) => `**/${'x'.repeat(60)}${n}`) }),
  changes_discard: () => {
    const paths = range(10_000, (n) => `wide/${'n'.repeat(245)}${String(n + 1).padStart(5, '0')}`);
    return [...refused('INVALID_ARGUMENT', { paths: [...paths, 'wide'] }), ...permitted({ paths })];
  },
  sandbox_destroy: () => permitted({ discard: true }),
};

/** The names in the order of `toolInputs`. */
export function inOrderOfTools(names: readonly string[]): string[] {
  const known = Object.keys(toolInputs);
  return names.toSorted((a, b) => known.indexOf(a) - known.indexOf(b));
}
