import { memoryTrees } from './memory-trees.ts';
import { useEngine } from './sandbox.ts';

// What a sandbox promises, whatever keeps its files: here live trees of objects, frozen after every third change.
useEngine(memoryTrees(3));
for (const suite of ['namespace', 'access', 'rules', 'listing', 'hidden-links', 'depth', 'refusals', 'redacted'])
  await import(`./${suite}.test.ts`);
