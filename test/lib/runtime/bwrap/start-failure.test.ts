import { expect, it } from 'vitest';
import { startFailure } from '../../../../lib/runtime/bwrap/start-failure.ts';

it.each([
  ['could not start a process (EAGAIN)', 'RESOURCE_EXHAUSTED'],
  ['could not run the shell (spawn /bin/sh EAGAIN)', 'RESOURCE_EXHAUSTED'],
  ['bwrap: Creating new namespace failed: Resource temporarily unavailable', 'RESOURCE_EXHAUSTED'],
  ["bwrap: Can't fork for pid 1: Resource temporarily unavailable", 'RESOURCE_EXHAUSTED'],
  [
    'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
    'RESOURCE_EXHAUSTED',
  ],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", 'UNAVAILABLE'],
  ['bwrap ended with SIGKILL', 'UNAVAILABLE'],
])('%s: %s', (reason, code) => {
  expect(startFailure(reason, undefined)).toMatchObject({ code, message: `the sandbox did not start: ${reason}` });
});
