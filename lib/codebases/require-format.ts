import type { CodebaseRecord } from '../metadata/metadata.ts';

/** How the files of codebases are stored. */
export const CODEBASE_FORMATS = ['plain', 'tree'] as const;
export type CodebaseFormat = (typeof CODEBASE_FORMATS)[number];

/** Throws an error of one line if a codebase is stored in another format. Call it before anything is changed. */
export function requireFormat(records: Iterable<CodebaseRecord>, format: CodebaseFormat): void {
  for (const { id, tree } of records) {
    const found = tree === undefined ? 'plain' : 'tree';
    if (found === format) continue;
    throw new Error(
      `storage.codebase_format: must be "${found}", in which codebases such as ${id} are stored; for "${format}" ` +
        'export their files with that setting as archives, and import them into a server with an empty storage',
    );
  }
}
