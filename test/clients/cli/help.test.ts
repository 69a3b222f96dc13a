import { expect, it } from 'vitest';
import { closest } from '../../../clients/cli/src/command-line/closest.ts';
import { loadGroups, NAMES } from '../../../clients/cli/src/command-line/commands.ts';
import { overview } from '../../../clients/cli/src/command-line/help.ts';
import { cli } from './cli.ts';

it('the short help has the usual commands of each group, and says where the others are', async () => {
  const text = overview(await loadGroups('usual'));
  const groups = [...text.matchAll(/^(\S.*):$/gm)].map(([, name]) => name);
  expect(groups).toEqual(['Run', 'Review', 'Sandboxes', 'Network and secrets', 'Server']);
  expect(text.match(/^ {2}\S/gm)!.length).toBeLessThan(20);
  expect(text).toContain('paddock help all');
});

it('the long help has every command once', async () => {
  const { stdout } = await cli(['help', 'all']);
  for (const name of NAMES) expect(stdout.match(new RegExp(`^  ${name} {2}`, 'gm')), name).toHaveLength(1);
});

it.each([[['key']], [['key', '--help']], [['help', 'key']]])('%j lists the commands below it', async (args) => {
  const { code, stdout } = await cli(args);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^usage: paddock key COMMAND.*key create .*key revoke /s)]);
});

it('a noun is no command itself: what acts on a sandbox is one word, everything else a noun and a verb', () => {
  const nouns = new Set(NAMES.flatMap((name) => name.split(' ').slice(0, -1)));
  expect(NAMES.filter((name) => nouns.has(name))).toEqual([]);
});

it.each([
  [['rnu', 'x'], 'there is no command "rnu"; did you mean "paddock run"?'],
  [['srver'], 'there is no command "srver"; did you mean "paddock server"?'],
  [['key', 'crate', '--role', 'owner'], 'there is no command "key crate"; did you mean "paddock key create"?'],
  [['network', 'alow', 'sb', 'host'], 'there is no command "network alow"; did you mean "paddock network allow"?'],
  [['commit', 'sb', '--on-conflict', 'x'], '--on-conflict is ours or theirs, not "x"'],
  [['ls', '--quite'], "unknown option '--quite'; did you mean --quiet?"],
  [['frobnicate'], 'there is no command "frobnicate": see "paddock help all"'],
])('%j is answered with what was probably meant', async (args, sentence) => {
  const { code, stderr } = await cli(args);
  expect([code, stderr.split('\n')[0]]).toEqual([2, `paddock: ${sentence}`]);
});

it('words are near if few letters are missing, added, replaced or swapped', () => {
  const known = ['exec', 'export', 'ls'];
  expect(['exce', 'exex', 'expor', 'l', 'xyz', 'deploy'].map((word) => closest(word, known))).toEqual([
    'exec',
    'exec',
    'export',
    'ls',
    undefined,
    undefined,
  ]);
});

it.each(['exec', 'run'])('wrong arguments of %s have a code that is none of a command', async (name) => {
  expect((await cli([name, '--frobnicate'])).code).toBe(125);
});
