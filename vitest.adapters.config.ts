import { defineConfig } from 'vitest/config';
import base from './vitest.base.config.ts';

/** The adapters for agent frameworks, with these frameworks' packages, and all examples: `npm run test:adapters`. */
export default defineConfig({
  ...base,
  // These use the packages as they are installed.
  resolve: {},
  test: {
    ...base.test,
    include: ['clients/adapters/test/**/*.test.ts'],
    globalSetup: ['test/clients/adapters/one-server.ts'],
  },
});
