import { defineConfig } from 'vitest/config';
import base from './vitest.base.config.ts';

/** The agents' own packages, in sandboxes: `npm run test:agents`. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/agents/**/*.test.ts'], globalSetup: ['test/global-setup.ts'], maxWorkers: 1 },
});
