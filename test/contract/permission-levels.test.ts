import { expect } from 'vitest';
import { ABSENT, DENIED, outcome, REFUSED } from './outcome.ts';
import { hide, read, view, write } from './rules.ts';
import { type Case, contract } from './suite.ts';

/** One row: a command and its outcome on `f` under NONE, VIEW, READ and WRITE. Every row has a directory of its own. */
type Row = readonly [command: string, none: string, view: string, read: string, write: string];

const LEVELS = { none: hide, view, read, write };

const FILE_ROWS: readonly Row[] = [
  ['cat f', ABSENT, DENIED, 'text\n', 'text\n'],
  ['stat -c %s f', ABSENT, '5\n', '5\n', '5\n'],
  ['ls', 'free\n', 'f\nfree\n', 'f\nfree\n', 'f\nfree\n'],
  ['test -e f && echo yes || echo no', 'no\n', 'yes\n', 'yes\n', 'yes\n'],
  ['test -r f && echo yes || echo no', 'no\n', 'no\n', 'yes\n', 'yes\n'],
  ['test -w f && echo yes || echo no', 'no\n', 'no\n', 'no\n', 'yes\n'],
  ['echo more > f', DENIED, DENIED, DENIED, ''],
  ['echo more >> f', DENIED, DENIED, DENIED, ''],
  ['rm -f f && ls', 'free\n', DENIED, DENIED, 'free\n'],
  ['mv f free/g', ABSENT, DENIED, DENIED, ''],
  ['ln f free/g', ABSENT, REFUSED, REFUSED, ''],
  ['echo new > free/g && mv -f free/g f', DENIED, DENIED, DENIED, ''],
  ['ln -s free f', DENIED, 'File exists', 'File exists', 'File exists'],
  ['mkdir f', DENIED, 'File exists', 'File exists', 'File exists'],
  ['chmod 600 f', ABSENT, REFUSED, REFUSED, ''],
  ['python3 -c "import os; os.utime(\'f\', (1, 1))"', ABSENT, REFUSED, REFUSED, ''],
  ['truncate -c -s 0 f; stat -c %s f', ABSENT, '5\n', '5\n', '0\n'],
  ['cp f free/g && cat free/g', ABSENT, DENIED, 'text\n', 'text\n'],
  ["python3 -c \"import mmap; f = open('f', 'r+b'); mmap.mmap(f.fileno(), 0)[0] = 84\"", ABSENT, DENIED, DENIED, ''],
  ['ln -s f free/l && cat free/../free/../f', ABSENT, DENIED, 'text\n', 'text\n'],
  ['ln -s ../f free/l && cat free/l', ABSENT, DENIED, 'text\n', 'text\n'],
  ['ln -s $PWD/f free/l && echo more > free/l', DENIED, DENIED, DENIED, ''],
  ['cat $PWD/./f', ABSENT, DENIED, 'text\n', 'text\n'],
  ['exec 3< f; cat /proc/self/fd/3', ABSENT, DENIED, 'text\n', 'text\n'],
];

const cases: Case[] = Object.entries(LEVELS).map(([name, level], column) => ({
  name: `commands on a file of level ${name} have the results of the contract`,
  async run(scene) {
    const files = FILE_ROWS.flatMap((_, row) => [[`${row}/f`, 'text\n'] as const, [`${row}/free/kept`, ''] as const]);
    const codebase = await scene.codebase(Object.fromEntries(files));
    const rules = FILE_ROWS.flatMap((_, row) => [level(`${row}/f`), write(`${row}/free/`)]);
    const sandbox = await scene.sandbox(codebase, rules);
    const expected: Record<string, string | undefined> = {};
    const found: typeof expected = {};
    for (const [row, [command, ...outcomes]] of FILE_ROWS.entries()) {
      const came = await outcome(scene, sandbox, `cd ${row}; ${command}`);
      const refused = outcomes[column] === REFUSED && [DENIED, 'Operation not permitted'].includes(came);
      found[command] = refused ? REFUSED : came;
      expected[command] = outcomes[column];
    }
    expect(found).toEqual(expected);
    // Whatever the commands did, nothing of it is in the codebase.
    for (const row of FILE_ROWS.keys()) expect(await scene.content(codebase, `${row}/f`)).toBe('text\n');
  },
}));

contract('permission levels', cases);
