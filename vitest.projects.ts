import { configDefaults, type TestProjectInlineConfiguration } from 'vitest/config';
import base from './vitest.base.config.ts';

export interface Files {
  include: string[];
  exclude?: string[];
  /** Those of them that run in a process of their own: they replace modules, or look at or change their process. */
  ownProcess: string[];
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
