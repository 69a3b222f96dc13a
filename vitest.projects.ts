import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configDefaults, type TestProjectInlineConfiguration } from 'vitest/config';
import base from './vitest.base.config.ts';

/** The models, which `npm run test:model` runs at full length. */
export const MODELS = [
  'test/lib/codebases/tree/model/model.test.ts',
  'test/lib/sandboxes/model/sequences.test.ts',
  'test/lib/trees/model/{model,mutants}.test.ts',
  'test/lib/workspaces/tree/{disk/crashes,disk/live-tree,model/model,model/mutants}.test.ts',
  'test/lib/workspaces/{redacted-model,model,changed-during-commit-model}.test.ts',
];

export interface Files {
  include: string[];
  exclude?: string[];
  /** Those of them that run in a process of their own: they replace modules, or look at or change their process. */
  ownProcess: string[];
}

/**
 * The test files of a directory that replace modules. In a shared process the modules that use them may be loaded already,
 * and would be those of later files.
 */
export function replaceModules(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(directory, name))
    .filter((path) => /^vi\.mock\(/m.test(readFileSync(path, 'utf8')));
}

/**
 * The other files share the processes of the workers: a process and its imports take longer than the tests of most files.
 * The projects start in the order of their names: a shared process is reused for short files only at the end.
 */
export function projects({ include, exclude = [], ownProcess }: Files): TestProjectInlineConfiguration[] {
  const excluded = [...configDefaults.exclude, ...exclude];
  return [
    { ...base, test: { ...base.test, name: 'own process', include: ownProcess, exclude: excluded } },
    {
      ...base,
      test: { ...base.test, name: 'shared process', isolate: false, include, exclude: [...excluded, ...ownProcess] },
    },
  ];
}
