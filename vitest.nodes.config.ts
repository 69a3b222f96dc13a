import { defineConfig } from 'vitest/config';
import base from './vitest.base.config.ts';
import { projects } from './vitest.projects.ts';
import { UNIT_TESTS } from './vitest.unit.config.ts';

/**
 * The tests that run on each supported release of Node: the unit tests, and those of the built server that depend on Node
 * itself: processes, pipes, TLS, HTTP/1, HTTP/2 and streams. `scripts/on-node.sh 24 npm run test:node`.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    globalSetup: ['test/global-setup.ts'],
    projects: projects({
      ...UNIT_TESTS,
      include: [
        ...UNIT_TESTS.include,
        'test/adapters/grpc-standard.test.ts',
        'test/adapters/tls{,-reload}.test.ts',
        'test/contract/{exec,exec-stream,files,grpc,rest}.test.ts',
        'test/server/node-release.test.ts',
      ],
    }),
  },
});
