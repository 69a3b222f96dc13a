import type { Entry } from '../format/entry.ts';

/** What a sandbox has seen of its codebase at a path, and what it has there itself. */
export interface Two {
  readonly b: Entry | undefined;
  readonly m: Entry | undefined;
}

/** Head beside them. */
export interface Three extends Two {
  readonly h: Entry | undefined;
}
