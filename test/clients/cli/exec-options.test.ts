import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CliError } from '../../../clients/cli/src/command-line/errors.ts';
import { signalOf } from '../../../clients/cli/src/commands/processes.ts';
import { endingOf } from '../../../clients/cli/src/exec/ending.ts';
import { durationOf } from '../../../clients/cli/src/options/durations.ts';
import { environmentOf } from '../../../clients/cli/src/options/environment.ts';
import { commandText, stateText } from '../../../clients/cli/src/output/process-text.ts';
import { emptyDirectory, put } from '../../directory.ts';

const directory = emptyDirectory();

it('variables are those of files, then those given; a name alone has its value here, if it has one', () => {
  const file = put(directory, 'env', '# comment\n\nA=1\n  B=two words # kept\r\nHOME\nMISSING\nE=\n');
  const own = { HOME: '/home/ann', TOKEN: 't' };
  expect(environmentOf(['A=2', 'TOKEN', 'U=a=b'], [file], own)).toEqual({
    A: '2',
    B: 'two words # kept',
    HOME: '/home/ann',
    E: '',
    TOKEN: 't',
    U: 'a=b',
  });
  expect(environmentOf([], [], own)).toBeUndefined();
  expect(() => environmentOf(['=x'], [], own)).toThrow(/a variable is NAME=VALUE/);
  expect(() => environmentOf([], [join(directory, 'none')], own)).toThrow(/cannot be read/);
});

it('signals have names in any case, with or without SIG, or numbers', () => {
  expect(['int', 'SIGINT', '2', 'kill', 'RTMIN+1'].map((name) => signalOf('signal', name))).toEqual([
    'SIGINT',
    'SIGINT',
    'SIGINT',
    'SIGKILL',
    'SIGRTMIN+1',
  ]);
  for (const bad of ['99', '', 'a b']) expect(() => signalOf('signal', bad)).toThrow(/there is no signal/);
});

it('durations have a unit', () => {
  for (const good of ['30s', '5m', '2h', '500ms']) expect(durationOf('timeout', good)).toBe(good);
  for (const bad of ['', '-1', '90', '5 m', 'x']) {
    expect(() => durationOf('timeout', bad)).toThrow(
      `--timeout is like "500ms", "30s", "5m" or "2h", not ${JSON.stringify(bad)}`,
    );
  }
});

it('the exit code is that of the process, unless something else ended it', () => {
  const end = (reason: string, exitCode: number) => endingOf({ reason, exitCode }).exitCode;
  expect([end('exited', 3), end('signaled', 130), end('killed', 137)]).toEqual([3, 130, 137]);
  expect([end('timeout', -1), end('out_of_memory', 137)]).toEqual([124, 137]);
  for (const reason of ['sandbox_stopped', 'sandbox_lost', 'exited']) expect(() => end(reason, -1)).toThrow(CliError);
});

it('commands are shown so that a shell would divide them as they are', () => {
  expect(commandText({ command: 'a | b', argv: [] })).toBe('a | b');
  expect(commandText({ command: '', argv: ['sh', '-c', "echo 'a'", ''] })).toBe("sh -c 'echo '\\''a'\\''' ''");
  expect(stateText({ end: { reason: 'out_of_memory', exitCode: 137, signal: 9, durationMs: 1 } })).toBe(
    'out of memory (137)',
  );
});
