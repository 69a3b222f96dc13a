import { defineConfig } from 'vitest/config';
import base from './vitest.base.config.ts';
import { projects } from './vitest.projects.ts';

/** All tests but those for a kernel with cgroup v2 only: npm run test:vm. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    globalSetup: ['test/global-setup.ts'],
    projects: projects({
      include: ['test/**/*.test.ts'],
      exclude: ['test/vm/**'],
      ownProcess: [
        'test/adapters/cron.test.ts',
        'test/{deploy,docker,scripts}/**/*.test.ts',
        'test/lib/{codebases,fuse,host-tree,linux,runtime,sandboxes,verify,workspaces}/**/*.test.ts',
        'test/lib/{descriptors,priority,revive}.test.ts',
        'test/lib/access/key-format.test.ts',
      ],
    }),
  },
});
