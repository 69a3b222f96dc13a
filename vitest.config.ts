import { defineConfig } from 'vitest/config';
import base from './vitest.base.config.ts';
import { MODELS, projects, replaceModules } from './vitest.projects.ts';

/** CI runs the models once, at full length: their short runs here are the beginning of it. */
const modelsElsewhere = process.env.PADDOCK_MODELS === 'elsewhere' ? MODELS : [];

/** All tests but those for a kernel with cgroup v2 only: npm run test:vm. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    globalSetup: ['test/global-setup.ts'],
    projects: projects({
      include: ['test/**/*.test.ts'],
      // `npm run test:turns` has the latter, which needs a core to itself.
      exclude: ['test/{agents,vm}/**', 'test/reports/longest-turn.test.ts', ...modelsElsewhere],
      ownProcess: [
        ...replaceModules('test'),
        'test/adapters/blocks.test.ts',
        'test/app/cron.test.ts',
        'test/{deploy,docker,scripts}/**/*.test.ts',
        'test/lib/{fuse,host-tree,linux,verify}/**/*.test.ts',
        'test/lib/runtime/{bwrap,cgroup,docker,faults,terminal-limit}/**/*.test.ts',
        'test/lib/runtime/executor/{argv,place-programs,session-shell,shells,terminal}.test.ts',
        'test/lib/codebases/{commit-steps,files,hostile-trees,refused-archives,unsynced-commit}.test.ts',
        'test/lib/sandboxes/{faults,killed-at-each-call,layout,life-cycle,reclaim}.test.ts',
        'test/lib/sandboxes/{model,processes,sessions}/**/*.test.ts',
        'test/lib/workspaces/{base-changes,base-swaps,faults,large-frees,memory,model,retained}.test.ts',
        'test/lib/workspaces/{revert-unchanged-failures,slices-delta,slices-layers,slow-fsync,syncs}.test.ts',
        'test/lib/workspaces/{on-trees,tools,unpacking-limits}.test.ts',
        'test/lib/workspaces/delta/index/memory.test.ts',
        'test/lib/{descriptors,priority,revive}.test.ts',
        'test/lib/access/key-format.test.ts',
      ],
    }),
  },
});
