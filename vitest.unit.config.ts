import { defineConfig } from 'vitest/config';
import base from './vitest.base.config.ts';
import { type Files, projects } from './vitest.projects.ts';

export const UNIT_TESTS: Required<Files> = {
  include: [
    'test/adapters/{openapi,protos}.test.ts',
    'test/clients/cli/{bring,completion,config,doctor,exec-options,extract,input,merge,parse,printable,resolve,settings,streams,terminal-keys,tools}.test.ts',
    'test/bench/*.test.ts',
    'test/handlers/**/*.test.ts',
    'test/lib/*.test.ts',
    'test/lib/{access,config,disk,limits,metadata,output-log,patch,permissions,store,trees}/**/*.test.ts',
    'test/lib/linux/mountinfo.test.ts',
    'test/lib/workspaces/calls.test.ts',
    'test/lib/workspaces/tree/**/*.test.ts',
    'test/lib/fuse/protocol/**/*.test.ts',
    'test/lib/fuse/session*.test.ts',
    'test/lib/runtime/seccomp/**/*.test.ts',
  ],
  exclude: [
    'test/lib/{descriptors,revive}.test.ts',
    'test/lib/{trees,workspaces/tree}/model/mutants.test.ts',
    'test/lib/store/{crashes,damage}.test.ts',
  ],
  ownProcess: ['test/lib/access/key-format.test.ts'],
};

/** Tests that need no privilege, network or system package: `npm run test:unit`. */
export default defineConfig({ ...base, test: { ...base.test, projects: projects(UNIT_TESTS) } });
