import { defineConfig } from 'vitest/config';
import base from './vitest.base.config.ts';

/** The longest turn of the main thread for the largest input of each operation and tool: `npm run test:turns`. */
export default defineConfig({
  ...base,
  test: { ...base.test, globalSetup: ['test/global-setup.ts'], include: ['test/reports/longest-turn.test.ts'] },
});
