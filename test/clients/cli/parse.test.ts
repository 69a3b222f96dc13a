import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { command, one, optional } from '../../../clients/cli/src/command-line/command.ts';
import { loadAll } from '../../../clients/cli/src/command-line/commands.ts';
import { helpOf } from '../../../clients/cli/src/command-line/help.ts';
import { parse } from '../../../clients/cli/src/command-line/parse.ts';
import { serverArguments } from '../../../clients/cli/src/server/server-bundle.ts';

const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
const exec = {
  name: 'exec',
  ...command({
    summary: 'run a command',
    operands: { sandbox: one('SANDBOX') },
    options: {
      interactive: { short: 'i', help: 'input' },
      tty: { short: 't', help: 'terminal' },
      env: { short: 'e', multiple: true, value: 'NAME=VALUE', help: 'variable' },
    },
    examples: ['paddock exec ID ls'],
    runs: true,
    run: async () => 0,
  }),
};
const rm = { ...exec, name: 'rm', operands: { sandbox: one('SANDBOX'), path: optional('PATH') }, runs: false };

describe('arguments of a command that runs another one', () => {
  it.each([
    [
      ['-it', '-e', 'A=1', 'id', 'ls', '-it', '--json'],
      ['ls', '-it', '--json'],
    ],
    [
      ['-it', '-e', 'A=1', 'id', '--', 'ls', '-it', '--json'],
      ['ls', '-it', '--json'],
    ],
    [
      ['-it', '--env=A=1', 'id', '--', '--', 'x'],
      ['--', 'x'],
    ],
    [['id', '-it', '-e', 'A=1'], []],
  ])('are divided: %j', (args, rest) => {
    const parsed = parse(exec, args);
    expect(parsed.operands).toEqual({ sandbox: 'id' });
    expect(parsed.rest).toEqual(rest);
    expect({ ...parsed.values }).toEqual({ interactive: true, tty: true, env: ['A=1'] });
    expect(parsed.globals.json).toBeUndefined();
  });
});

it.each([
  [['--foo', 'id'], /^unknown option '--foo'$/],
  [[], /^rm needs SANDBOX \[PATH\]$/],
  [['a', 'b', 'c'], /^rm: unexpected argument "c"$/],
  [['--env'], /argument missing/],
  [['--tty=yes', 'a'], /does not take an argument/],
])('refuses %j', (args, message) => {
  expect(() => parse(rm, args)).toThrow(message);
});

it('shows the help without operands', () => {
  expect(parse(rm, ['--help']).globals.help).toBe(true);
  expect(helpOf(rm)).toMatch(/usage: paddock rm \[OPTIONS\] SANDBOX.*-e, --env NAME=VALUE +variable.*--json/s);
});

it.each([
  [
    ['serve', '-config', 'a'],
    ['-config', 'a'],
  ],
  [
    ['verify', '-config=a'],
    ['verify', '-config=a'],
  ],
  [['health'], ['health']],
  [
    ['key', 'create', '--admin'],
    ['key', 'create', '--admin'],
  ],
  [['key', 'create', '--role', 'agent'], undefined],
  [
    ['-config', 'a'],
    ['-config', 'a'],
  ],
  [['--http-addr=:1'], ['--http-addr=:1']],
  [['ls'], undefined],
  [[], undefined],
])('tells the words of the server: %j', (args, expected) => {
  expect(serverArguments(args)).toEqual(expected);
});

it('has every command in docs/cli.md, with a help text of lines that fit a terminal', async () => {
  for (const command of await loadAll()) {
    expect(page).toContain(`paddock ${command.name}`);
    expect(command.summary).toMatch(/^[a-z].*[^.]$/);
    for (const line of helpOf(command).split('\n')) expect(line.length, line).toBeLessThan(140);
  }
});

it('says everything in sentences of at most 25 words', async () => {
  for (const { summary, details = '', options } of await loadAll())
    for (const text of [summary, details, ...Object.values(options).map(({ help }) => help)])
      for (const sentence of text.replaceAll('\n', ' ').split(/[.;:!?)"] +/))
        expect(sentence.split(' ').length, sentence).toBeLessThanOrEqual(25);
});
