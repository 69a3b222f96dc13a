import { MAX_PATHS } from '../../lib/path-limits.ts';
import { MAX_EXCLUDED, MAX_EXCLUDED_BYTES, MAX_PATTERN_BYTES } from '../../lib/permissions/pattern-limits.ts';
import type { Constraints, FieldConstraint } from './constraints.ts';

/** Which changes of a sandbox an operation is about. */
export const changeChoice = {
  paths: { maxItems: MAX_PATHS, items: { minLength: 1, format: 'directory-path' } },
  exclude: {
    maxItems: MAX_EXCLUDED,
    maxBytes: MAX_EXCLUDED_BYTES,
    items: { minLength: 1, maxBytes: MAX_PATTERN_BYTES },
  },
} as const satisfies Constraints;

const sha256 = {
  minLength: 1,
  pattern: { source: '[0-9a-f]{64}', problem: 'must be a SHA-256 in lower-case hex, as a diff of ListChanges has it' },
} as const satisfies FieldConstraint;

/** Hunks of modified files. */
export const chosenHunks = {
  maxItems: 1000,
  items: {
    fields: {
      path: { minLength: 1, format: 'file-path' },
      base_sha256: sha256,
      sha256,
      indexes: { maxItems: 10_000 },
    },
  },
} as const satisfies FieldConstraint;
