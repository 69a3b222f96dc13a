import { describe, it } from 'vitest';
import { check, type Step, Twins } from './commit-twins.ts';

/** All that may be done below a directory that was renamed before: random steps seldom do it. */
const BELOW = [
  { path: 'r/d', does: 'rename', to: 'x' },
  { path: 'r/d/e', does: 'rename', to: 'x' },
  { path: 'r/d', does: 'rename', to: 'r/e' },
  { path: 'r/d', does: 'rename', to: 'q' },
  { path: 'r/d/new', does: 'create', to: '' },
  { path: 'r/d/new', does: 'mkdir', to: '' },
  { path: 'r/d/e', does: 'create', to: '' },
  { path: 'r/d', does: 'create', to: '' },
  { path: 'r', does: 'create', to: '' },
  { path: 'r/d', does: 'chmod 700', to: '' },
  { path: 'r', does: 'chmod 700', to: '' },
] as const;

const NEW_BELOW: readonly Step[] = [
  { path: 'q', does: 'rename', to: 'r' },
  { path: 'r/d/f', does: 'mkdir', to: '' },
  { path: 'r/d/f/g', does: 'create', to: '' },
  { path: 'r/d/f/h', does: 'create', to: '' },
];

/** Of a directory that the sandbox made in one that was renamed before, when it leaves that one. */
const LEAVES: readonly (readonly [Step, ...Step[]])[] = [
  [
    { path: 'r/d', does: 'rename', to: 'x' },
    { path: 'x/f/g', does: 'rename', to: 'y' },
  ],
  [
    { path: 'r/d', does: 'rename', to: 'x' },
    { path: 'x/f/g', does: 'create', to: '' },
  ],
  [
    { path: 'r', does: 'rename', to: 'x' },
    { path: 'x/d/f/g', does: 'create', to: '' },
  ],
  [
    { path: 'r/d/f', does: 'rename', to: 'x' },
    { path: 'x/g', does: 'create', to: '' },
  ],
  [
    { path: 'r/d', does: 'rename', to: 'x' },
    { path: 'x/f', does: 'create', to: '' },
    { path: 'x/f', does: 'mkdir', to: '' },
  ],
];

/** A mode of a directory, in a commit with renamed directories. */
const MODES: readonly { named: string; steps: readonly Step[] }[] = [
  {
    named: 'of which a part was moved away, with a new file',
    steps: [
      { path: 'q/d', does: 'rename', to: 'x' },
      { path: 'q', does: 'chmod 700', to: '' },
      { path: 'q/n', does: 'create', to: '' },
    ],
  },
  {
    named: 'of which a part was moved away',
    steps: [
      { path: 'q/d', does: 'rename', to: 'x' },
      { path: 'q', does: 'chmod 700', to: '' },
    ],
  },
  {
    named: 'in the place of another one',
    steps: [
      { path: 'q', does: 'rename', to: 'x' },
      { path: 'p', does: 'rename', to: 'q' },
      { path: 'q', does: 'chmod 700', to: '' },
    ],
  },
];

/** Directories that are at their own paths in the codebase again, in ones that are exchanged. */
const BACK: readonly (readonly Step[])[] = [
  [
    { path: 'q', does: 'exchange', to: 'p' },
    { path: 'p', does: 'chmod 700', to: '' },
    { path: 'q/d', does: 'exchange', to: 'p/d' },
  ],
  [
    { path: 'q', does: 'exchange', to: 'p' },
    { path: 'p', does: 'chmod 700', to: '' },
    { path: 'q/d/e', does: 'exchange', to: 'p/d/e' },
    { path: 'p/d/e/n', does: 'create', to: '' },
  ],
];

describe('what programs do during a commit', () => {
  it.each(LEAVES.map((steps) => ({ named: steps.map(({ path, to }) => `${path} ${to}`).join(', '), steps })))(
    'is not lost in a new directory below one that was renamed before: $named',
    ({ steps }) => {
      for (let moments = 0; moments < 24; moments++) {
        const twins = new Twins(['q/d/old'], [NEW_BELOW, ...Array.from({ length: moments }, () => []), steps]);
        try {
          check(twins, []);
        } finally {
          twins.remove();
        }
      }
    },
  );

  it.each(BELOW)('is not lost below a directory that was renamed before: $does $path $to', (step) => {
    for (let moments = 0; moments < 16; moments++) {
      const renamed: Step = { path: 'q', does: 'rename', to: 'r' };
      const twins = new Twins(['q/d/e', 'q/d/g'], [[renamed], ...Array.from({ length: moments }, () => []), [step]]);
      try {
        check(twins, []);
      } finally {
        twins.remove();
      }
    }
  });

  it.each(BACK.map((steps) => ({ steps })))(
    'is not lost in a directory that was moved back to its own path',
    ({ steps }) => {
      const twins = new Twins(['p/d/e/a', 'p/d/f', 'q/d/e/b', 'q/d/g'], [steps]);
      try {
        check(twins, []);
      } finally {
        twins.remove();
      }
    },
  );

  it.each(MODES)('is not lost if it is the former mode of a directory $named', ({ steps }) => {
    for (let moments = 0; moments < 24; moments++) {
      const set: Step = { path: 'q', does: 'chmod 755', to: '' };
      const twins = new Twins(['q/d/e', 'q/f', 'p/a'], [steps, ...Array.from({ length: moments }, () => []), [set]]);
      try {
        check(twins, []);
      } finally {
        twins.remove();
      }
    }
  });
});
