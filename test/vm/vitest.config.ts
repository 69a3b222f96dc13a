import { defineConfig } from 'vitest/config';
import { compileProto } from '../../proto/compile.mjs';
import type {} from '../slowness.ts';

/** Configuration of the tests in the virtual machine (scripts/vm.mjs): the host built dist/, and an emulator is slow. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  define: { PADDOCK_VERSION: JSON.stringify('0.0.0-test') },
  plugins: [{ name: 'proto', load: (id) => (id.endsWith('.proto') ? compileProto(id) : undefined) }],
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    pool: 'forks',
    maxWorkers: 1,
    globalSetup: ['test/vm/global-setup.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 120_000 } },
    provide: { slowness: 10 },
    allowOnly: false,
  },
});
