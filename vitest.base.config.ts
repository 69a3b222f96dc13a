import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { compileProto } from './proto/compile.mjs';

/** The command line has the public names of the TypeScript client; tsconfig.json says so to the compiler and the bundler. */
const CLIENT = fileURLToPath(new URL('clients/typescript/src', import.meta.url));

/** What all configurations have in common. */
export default defineConfig({
  // Replaced by the build.
  define: { PADDOCK_VERSION: JSON.stringify('0.0.0-test') },
  resolve: {
    alias: [
      { find: /^paddock-sandbox$/, replacement: `${CLIENT}/index.ts` },
      { find: 'paddock-sandbox/local', replacement: `${CLIENT}/local/index.ts` },
    ],
  },
  plugins: [{ name: 'proto', load: (id) => (id.endsWith('.proto') ? compileProto(id) : undefined) }],
  test: {
    environment: 'node',
    pool: 'forks',
    // Most tests wait for their own processes and servers: three concurrent files keep two cores busy.
    maxWorkers: 3,
    // Tests use real mounts, processes and servers; a test that waits for one of them polls with its own, shorter deadline.
    // None takes a third of this on two idle cores.
    testTimeout: 120_000,
    // Some start a daemon, or install packages.
    hookTimeout: 300_000,
    teardownTimeout: 20_000,
    expect: { poll: { timeout: 60_000 } },
    allowOnly: false,
  },
});
