import type { JournalRecord } from './records.ts';

/** First byte of a record. 0 is no change of a tree, but a random number (`journal-file.ts`). */
export const OPS = {
  own: 1,
  thaw: 2,
  put: 3,
  drop: 4,
  move: 5,
  link: 6,
  attr: 7,
  data: 8,
  text: 9,
  base: 10,
  root: 11,
} as const satisfies Record<JournalRecord['op'], number>;

export const SALT = 0;
