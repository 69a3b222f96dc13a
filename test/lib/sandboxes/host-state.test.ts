import { expect, it } from 'vitest';
import type { RunningSandbox } from '../../../lib/runtime/runtime.ts';
import {
  DETACHED,
  type HostState,
  isAttached,
  runningIn,
  withoutProcesses,
} from '../../../lib/sandboxes/host/host-state.ts';

const running: RunningSandbox = {
  exited: new Promise(() => {}),
  exec: () => Promise.reject(new Error('it runs nothing')),
  ports: async () => [],
  sharedMappings: async () => new Map(),
  inotifyWatches: async () => new Set<number>(),
  network: async () => 'present',
  networkPid: () => 0,
  setNetwork: () => {},
  openShell: () => Promise.reject(new Error('it runs nothing')),
  stop: () => Promise.resolve(),
};
const leased: HostState = { kind: 'leased', workspace: '/mnt/sb', sessions: 1 };

const cases: [HostState, { attached: boolean; runs: boolean; afterwards: HostState }][] = [
  [DETACHED, { attached: false, runs: false, afterwards: DETACHED }],
  [leased, { attached: false, runs: false, afterwards: leased }],
  [{ kind: 'attached' }, { attached: true, runs: false, afterwards: { kind: 'attached' } }],
  [
    { kind: 'running', running, attached: true },
    { attached: true, runs: true, afterwards: { kind: 'attached' } },
  ],
  [
    { kind: 'running', running, attached: false },
    { attached: false, runs: true, afterwards: DETACHED },
  ],
  [
    { kind: 'lost', reason: 'r', running },
    { attached: false, runs: true, afterwards: { kind: 'lost', reason: 'r', running: undefined } },
  ],
];

it.each(cases)('%j: whether attached, its processes, and the state without them', (state, expected) => {
  expect({ attached: isAttached(state), runs: runningIn(state) === running }).toEqual({
    attached: expected.attached,
    runs: expected.runs,
  });
  expect(withoutProcesses(state)).toEqual(expected.afterwards);
});
