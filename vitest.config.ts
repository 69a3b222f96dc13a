import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real mounts, processes and servers: a test that waits for one of these polls with its own, shorter deadline.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    allowOnly: false,
  },
});
