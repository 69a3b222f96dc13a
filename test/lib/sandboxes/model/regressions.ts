import type { Step } from './steps.ts';
import type { WorldOptions } from './world.ts';

const never = ['never', 'never', 'never', 'never'] as const;
const open: WorldOptions = { rules: [0, 0], autoCommit: never };
const onExec: WorldOptions = { rules: [0, 0], autoCommit: ['on_exec', 'on_exec', 'never', 'never'] };
/** Sandbox 0 may not see a/s. */
const hidden: WorldOptions = { rules: [1, 0], autoCommit: never };

export interface Regression {
  name: string;
  options: WorldOptions;
  sequence: readonly Step[];
}

/** The kills that a commit may meet, one run each. */
const anyCall = Array.from({ length: 30 }, (_, calls) => calls);

/** Sequences that once broke what the model asks for. */
export const REGRESSIONS: readonly Regression[] = [
  {
    name: 'files that were touched, also in a renamed directory, before another sandbox commits them',
    options: onExec,
    sequence: [
      ['touch', 0, 'a/b'],
      ['rename and back', 0, 'a'],
      ['rename', 0, 'b', 's'],
      ['rewrite', 0, 's/s'],
      ['overwrite', 1, 'a/b', 9],
      ['overwrite', 1, 'b/s', 9],
      ['unlink', 1, 'b/d/a'],
      ['exec', 1],
      ['overwrite', 0, 'a/b', 9],
      ['exec', 0],
    ],
  },
  {
    name: 'a directory with another mode, which another sandbox removes',
    options: open,
    sequence: [
      ['rm', 1, 'agent', 'b/d'],
      ['chmod', 0, 'b/d', 0o777],
      ['commit', 1, 'ours', []],
    ],
  },
  {
    name: 'a link that is committed in the place of a directory, below one that another sandbox renamed',
    options: open,
    sequence: [
      ['rename', 0, 'a', 's'],
      ['relink', 1, 'outside', 'a/d'],
      ['commit', 1, '', []],
      ['commit', 0, '', []],
    ],
  },
  {
    name: 'the same by relative links and to another codebase, with commits by Exec alone',
    options: onExec,
    sequence: [
      ['rename', 0, 'a', 's'],
      ['rename', 0, 'b', 'a'],
      ['relink', 1, 'up2', 'a/d'],
      ['relink', 1, 'neighbour', 'b/d'],
      ['exec', 1],
      ['exec', 0],
    ],
  },
  {
    name: 'a link in the place of a directory in which another sandbox made a file',
    options: open,
    sequence: [
      ['create', 0, 'a/d/a', 9],
      ['relink', 1, 'outside', 'a/d'],
      ['commit', 1, '', []],
      ['commit', 0, 'ours', []],
    ],
  },
  {
    name: 'a link in the place of a directory, committed by the sandbox that a rollback gives its rename back',
    options: open,
    sequence: [
      ['rename', 0, 'a/d', 's'],
      ['checkpoint', 0],
      ['discard', 0, []],
      ['relink', 0, 'outside', 'a'],
      ['commit', 0, '', []],
      ['rollback', 0, 0],
    ],
  },
  {
    name: 'a link in the place of a directory that the fork of a sandbox has renamed',
    options: open,
    sequence: [
      ['rename', 0, 'a', 's'],
      ['fork', 0, -1],
      ['discard', 0, []],
      ['relink', 0, 'outside', 'a/d'],
      ['commit', 0, '', []],
      ['commit', 2, '', []],
    ],
  },
  {
    name: 'a link to the host in the place of a directory, where another sandbox put a link before',
    options: open,
    sequence: [
      ['relink', 0, 'outside', 'b/s'],
      ['relink', 1, 'outside', 'b'],
      ['commit', 1, '', []],
    ],
  },
  {
    name: 'a file that is uploaded to a hidden place of a directory that was renamed',
    options: hidden,
    sequence: [
      ['rename', 0, 'a', 's'],
      ['upload', 'a/s', 9],
    ],
  },
  {
    name: 'a file that another sandbox commits to a hidden place of a directory that was renamed',
    options: hidden,
    sequence: [
      ['rename', 0, 'a', 's'],
      ['create', 1, 'a/s', 9],
      ['commit', 1, '', []],
    ],
  },
  {
    name: 'rules that come to hide what a renamed directory shows',
    options: open,
    sequence: [
      ['upload', 'a/s', 9],
      ['rename', 0, 'a', 's'],
      ['rules', 0, 1],
    ],
  },
  {
    name: 'a rollback that brings a rename of what is hidden back',
    options: open,
    sequence: [
      ['upload', 'a/s', 9],
      ['rename', 0, 'a', 's'],
      ['checkpoint', 0],
      ['discard', 0, []],
      ['rules', 0, 1],
      ['rollback', 0, 0],
    ],
  },
  {
    name: 'directories that changed places, and rules that hide one of them',
    options: open,
    sequence: [
      ['exchange', 0, 'a', 'b/s'],
      ['rules', 0, 3],
    ],
  },
  ...anyCall.slice(0, 9).map(
    (calls): Regression => ({
      name: `a fork whose parent is rolled back while layers are reclaimed, from call ${calls} on`,
      options: open,
      sequence: [
        ['checkpoint', 0],
        ['create', 0, 'a/s', 70_000],
        ['hold', calls],
        ['fork', 0, -1],
        ['rollback', 0, 0],
        ['release'],
        ['restart'],
      ],
    }),
  ),
  {
    name: 'a large file that is overwritten with a small one after a checkpoint',
    options: open,
    sequence: [
      ['create', 0, 'a/s', 70_000],
      ['checkpoint', 0],
      ['truncate', 0, 'a/s', 0],
      ['write', 0, 'a/s', 0, 9],
      ['stop', 0],
      ['start', 0],
      ['commit', 0, '', []],
    ],
  },
  ...anyCall.map(
    (calls): Regression => ({
      name: `an edit after a commit of which the server was killed at call ${calls}`,
      options: open,
      sequence: [
        ['create', 0, 'a/s', 9],
        ['write', 0, 'b/s', 0, 9],
        ['kill', calls, ['commit', 0, '', []]],
        ['write', 0, 'a/s', 0, 9],
        ['upload', 'b/s', 9],
      ],
    }),
  ),
  {
    name: 'two sandboxes that make the same new directory',
    options: open,
    sequence: [
      ['mkdir', 0, 's'],
      ['create', 0, 's/s', 9],
      ['mkdir', 1, 's'],
      ['create', 1, 's/a', 9],
      ['commit', 0, '', []],
      ['commit', 1, '', []],
    ],
  },
  {
    name: 'an upload into a directory that a sandbox made anew',
    options: open,
    sequence: [
      ['mkdir', 0, 's'],
      ['upload', 's/d', 0],
    ],
  },
  {
    name: "a conflict in a directory that became a link, decided for the codebase's version",
    options: open,
    sequence: [
      ['relink', 0, 'outside', 'a'],
      ['upload', 'a/d/s', 9],
      ['commit', 0, 'theirs', ['a']],
    ],
  },
  {
    name: 'the new place of a renamed directory, committed without the old one',
    options: open,
    sequence: [
      ['rename', 0, 'a/d', 's'],
      ['commit', 0, '', ['s']],
      ['commit', 0, '', []],
    ],
  },
  {
    name: 'one of two places that were exchanged, discarded',
    options: open,
    sequence: [
      ['exchange', 0, 'b/d', 'a/d/s'],
      ['discard', 0, ['a/d/s']],
    ],
  },
  {
    name: "a directory that became a file, decided for the codebase's version",
    options: open,
    sequence: [
      ['mkdir', 0, 's'],
      ['create', 0, 's/a', 9],
      ['upload', 's', 9],
      ['commit', 0, 'theirs', []],
      ['restart'],
    ],
  },
  {
    name: 'a directory that is shown at its old and its new place, and a file in it that is replaced',
    options: open,
    sequence: [
      ['rename', 0, 'a/d', 's'],
      ['fork', 0, -1],
      ['discard', 2, ['a/d']],
      ['upload', 'a/d/s', 0],
    ],
  },
  {
    name: 'a link of the codebase that is given another mode',
    options: open,
    sequence: [
      ['relink', 1, '/workspace/b', 'a'],
      ['commit', 1, '', []],
      ['chmod', 0, 'a', 0o755],
    ],
  },
  {
    name: 'a file in a new directory that the rules forbid, committed without it',
    options: { rules: [0, 2], autoCommit: never },
    sequence: [
      ['put', 1, 'owner', 's/d', 9],
      ['commit', 1, '', ['s/d']],
    ],
  },
  {
    name: "a removed directory in which the codebase's version is kept, and that another sandbox renamed",
    options: open,
    sequence: [
      ['rename', 1, 'b/d', 's'],
      ['rm', 0, 'agent', 'b'],
      ['upload', 'b/d/a', 9],
      ['upload', 'b/s', 9],
      ['commit', 0, 'theirs', []],
    ],
  },
  {
    name: 'a directory that takes the place of one to which something came after its removal',
    options: open,
    sequence: [
      ['rm', 1, 'agent', 'b'],
      ['upload', 'b/d/s', 9],
      ['rename', 1, 'a/d', 'b'],
    ],
  },
  {
    name: 'a renamed directory that a fork commits and then removes, which it no longer differs in',
    options: open,
    sequence: [
      ['rename', 0, 'b', 'a/s'],
      ['fork', 0, -1],
      ['commit', 2, '', []],
      ['relink', 2, 'd', 'a'],
      ['commit', 2, 'ours', []],
    ],
  },
];
