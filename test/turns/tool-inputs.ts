import { MIB, type World } from './world.ts';

const range = <T>(length: number, of: (n: number) => T): T[] => Array.from({ length }, (_, n) => of(n));
/** Few: the time of a search is that of another thread. */
const globs = range(2, (n) => `**/*${'n'.repeat(100)}${'?'.repeat(n % 8)}b*`);
/** Escaped in JSON as six characters each. */
const text = '\u0001'.repeat(MIB);

/** The largest arguments of each tool; those of an orchestrator have `sandbox_id`, too. In the order of the calls. */
export const toolInputs: Readonly<Record<string, (world: World) => object[]>> = {
  exec: () => [{ command: `: ${'\u0001'.repeat(100_000)}` }, { command: 'yes | head -c 50000000' }],
  process: ({ ended, reading }) => [
    { id: ended, offset: 0 },
    { id: reading, input: '\u0001'.repeat(MIB), wait: 0 },
  ],
  read_text_file: () => [
    { path: 'control' },
    ...['control', 'lines', 'ticks'].flatMap((path) => [
      { path, head: 1e9 },
      { path, tail: 1e9 },
    ]),
  ],
  read_media_file: () => [{ path: 'media.png' }],
  read_multiple_files: () => [
    { paths: ['control', ...range(99, () => 'control')] },
    { paths: range(100, () => `deep/${'d/'.repeat(1900)}`) },
  ],
  write_file: () => [
    { path: 'written', content: text },
    { path: 'written', content: 'x'.repeat(7 * MIB) },
  ],
  create_directory: () => [{ path: `created/${'c/'.repeat(1900)}` }],
  move_file: () => [{ source: 'created', destination: 'renamed' }],
  edit_file: () => [
    { path: 'lines', edits: [{ oldText: ` \n`.repeat(400_000), newText: '' }], dryRun: true },
    { path: 'lines', edits: range(100, () => ({ oldText: '\n', newText: ' \n' })), dryRun: true },
    { path: 'ticks', edits: [{ oldText: '`', newText: 'x' }], dryRun: true },
    { path: 'ticks', edits: [{ oldText: '`'.repeat(500_000), newText: 'x' }], dryRun: true },
    { path: 'control', edits: [{ oldText: '\u0001', newText: '\u0001'.repeat(500_000) }], dryRun: true },
  ],
  list_directory: () => [{ path: 'wide' }],
  list_directory_with_sizes: () => [{ path: 'wide', sortBy: 'size' }],
  directory_tree: () => [...['wide', 'deep', 'long'].map((path) => ({ path })), { path: '.', excludePatterns: globs }],
  search_files: () => [
    { path: 'wide', pattern: '**', excludePatterns: globs },
    { path: '.', pattern: `**/${'{a,n}'.repeat(8)}*` },
  ],
  get_file_info: () => [{ path: `deep/${'d/'.repeat(1900)}` }],
  list_allowed_directories: () => [{}],
  explain_access: () => [{ path: `deep/${'d/'.repeat(1900)}` }],
  show_changes: () => [{ diff: true }],
  sandbox_create: ({ codebase_id }) => [
    { codebase_id, rules: { write: range(200, (n) => `w${n}/${'*a?'.repeat(20)}/**`) } },
  ],
  sandbox_list: () => [{}],
  sandbox_fork: () => [{ count: 2 }],
  checkpoint: () => [{ name: 'two' }],
  rollback: () => [{ checkpoint: 'two' }],
  codebases_list: () => [{}],
  changes_show: () => [{ diff: true }],
  changes_commit: () => [{ dry_run: true, exclude: range(900, (n) => `**/${'x'.repeat(60)}${n}`) }],
  changes_discard: () => [{ paths: range(1000, (n) => `wide/${'n'.repeat(245)}${String(n + 1).padStart(5, '0')}`) }],
  sandbox_destroy: () => [{ discard: true }],
};
