import { defineConfig } from 'vitest/config';
import base from './vitest.base.config.ts';
import { MODELS } from './vitest.projects.ts';

/**
 * The models at the length of a CI run, on one core: 20,000 steps over several sandboxes and all interfaces, 6,000 runs
 * over one workspace, 600 over one during its commits, 600 over directory trees, 600 over the live tree of a workspace, 800
 * over its files with crashes, and 800 over a codebase on trees. `npm test` has a short run of each. PADDOCK_MODEL_RUNS sets
 * the length, PADDOCK_MODEL_SEED the seed; COMMIT_ROUNDS and COMMIT_SEED are those of the third.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: MODELS,
    globalSetup: ['test/global-setup.ts'],
    maxWorkers: 1,
    testTimeout: 24 * 3_600_000,
    env: {
      COMMIT_ROUNDS: process.env.COMMIT_ROUNDS ?? '150',
      PADDOCK_MODEL_RUNS: process.env.PADDOCK_MODEL_RUNS ?? '1200',
      PADDOCK_MODEL_SEED: process.env.PADDOCK_MODEL_SEED ?? '20261122',
    },
  },
});
