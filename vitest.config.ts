import { configDefaults, defineConfig } from 'vitest/config';
import { compileProto } from './proto/compile.mjs';

export default defineConfig({
  // What the build puts in.
  define: { PADDOCK_VERSION: JSON.stringify('0.0.0-test') },
  plugins: [{ name: 'proto', load: (id) => (id.endsWith('.proto') ? compileProto(id) : undefined) }],
  test: {
    include: ['test/**/*.test.ts'],
    // Of a kernel with cgroup v2 alone: npm run test:vm.
    exclude: [...configDefaults.exclude, 'test/vm/**'],
    environment: 'node',
    pool: 'forks',
    // Most tests wait for processes and servers of their own: two files at a time keep two cores busy.
    maxWorkers: 2,
    globalSetup: ['test/global-setup.ts'],
    // Real mounts, processes and servers: a test that waits for one of these polls with its own, shorter deadline.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    expect: { poll: { timeout: 30_000 } },
    allowOnly: false,
  },
});
