import { defineConfig } from 'vitest/config';
import { compileProto } from '../../proto/compile.mjs';

/** Configuration of the tests in the virtual machine (scripts/vm.mjs): dist/ is the host's, and an emulator is slow. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  define: { PADDOCK_VERSION: JSON.stringify('0.0.0-test') },
  plugins: [{ name: 'proto', load: (id) => (id.endsWith('.proto') ? compileProto(id) : undefined) }],
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000,
    allowOnly: false,
  },
});
