import { expect, it } from 'vitest';
import { COUNTED_AS } from '../../handlers/counted-as.ts';
import { operations } from '../../handlers/index.ts';

/** Decided by hand: an operation that runs a command, transfers content, or creates is in a row here. */
const DECIDED = {
  command: ['CreateSession', 'Exec', 'ExecStream', 'SessionExec', 'SessionExecStream', 'StartProcess'],
  stream: [
    'AttachProcess',
    'DownloadFile',
    'ExecStream',
    'ExportChanges',
    'ExportCodebaseFiles',
    'ExportFiles',
    'ImportCodebaseFiles',
    'ImportFiles',
    'ImportImage',
    'ReadFile',
    'ReadProcessOutput',
    'SessionExecStream',
    'UploadFile',
    'WaitPort',
    'WatchNetwork',
    'WatchProcess',
    'WriteFile',
    'WriteProcessInput',
  ],
  create: ['CreateCheckpoint', 'CreateCodebase', 'CreateKey', 'CreateSandbox', 'Fork'],
} as const;

it.each(['command', 'stream', 'create'] as const)('counts these operations, and no others, as a %s', (count) => {
  const counted = Object.entries(COUNTED_AS).filter(([, counts]) => counts.includes(count));
  expect(counted.map(([operation]) => operation).sort()).toEqual(DECIDED[count]);
});

it('counts every operation whose REST form transfers content or streams as a stream', () => {
  const transfers = operations.filter(({ kind }) => kind !== 'unary').map(({ operation }) => operation);
  expect(transfers.filter((operation) => !COUNTED_AS[operation].includes('stream'))).toEqual([]);
});
