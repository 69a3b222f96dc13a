import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { Command } from '../../../clients/cli/src/command.ts';
import { loadAll } from '../../../clients/cli/src/commands.ts';
import { bashScript } from '../../../clients/cli/src/completion/bash.ts';
import { fishScript } from '../../../clients/cli/src/completion/fish.ts';
import { type Completed, completedOf } from '../../../clients/cli/src/completion/model.ts';
import { zshScript } from '../../../clients/cli/src/completion/zsh.ts';

const commands: Completed[] = completedOf(await loadAll());

/** What bash offers for a line whose last word is not complete. `paddock` answers with ids of a hostile server. */
function offered(words: readonly string[]): string[] {
  const script = `${bashScript(commands)}
paddock() { [ "$1" = completion ] && printf '%s\\n' "$2-1" 'sb_$(touch /tmp/paddock-owned)' 'a b' '*'; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=\${#COMP_LINE}
_paddock; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['--norc', '-c', script, 'bash', ...words], { encoding: 'utf8' });
  return output.split('\n').filter(Boolean);
}

it('bash completes commands, their second words and their options', () => {
  expect(offered(['paddock', 'wait'])).toEqual(['wait-port']);
  expect(offered(['paddock', 'key', ''])).toEqual(['create', 'ls', 'revoke', 'whoami']);
  expect(offered(['paddock', 'exec', '--det'])).toEqual(['--detach', '--detach-keys']);
  expect(offered(['paddock', 'key', 'create', '--s'])).toEqual(['--sandbox', '--scope']);
});

it('bash completes ids without running what is in them', () => {
  const hostile = ['sb_$(touch /tmp/paddock-owned)', 'a b', '*'];
  expect(offered(['paddock', 'exec', ''])).toEqual(['sandboxes-1', ...hostile]);
  expect(offered(['paddock', 'logs', '-f', 'pro'])).toEqual(['processes-1']);
  expect(offered(['paddock', 'cp', 'sand'])).toEqual(['sandboxes-1:']);
  expect(() => execFileSync('test', ['-e', '/tmp/paddock-owned'])).toThrow();
});

it('every shell has every command and option', () => {
  for (const script of [bashScript(commands), zshScript(commands), fishScript(commands)]) {
    for (const { name, options } of commands) {
      for (const word of name.split(' ')) expect(script).toContain(word);
      for (const option of options) expect(script).toContain(option.name);
    }
  }
});

it('texts of the table are not interpreted', () => {
  const odd = completedOf([
    {
      name: 'odd',
      summary: `it's $(id) \`id\` [x]: "y"`,
      usage: '',
      options: { flag: { type: 'boolean', help: `it's [a]: $(id)` } },
    } as unknown as Command,
  ]);
  execFileSync('bash', ['-n'], { input: bashScript(odd) });
  expect(zshScript(odd)).toContain(`'odd:it'\\''s $(id) \`id\` [x] - "y"'`);
  expect(zshScript(odd)).toContain(`'*--flag[it'\\''s \\[a\\]\\: $(id)]'`);
  expect(fishScript(odd)).toContain(`-d 'it\\'s [a]: $(id)'`);
});
