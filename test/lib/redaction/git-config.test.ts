import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Placeholders } from '../../../lib/redaction/placeholders.ts';
import { redacting } from '../../../lib/redaction/redacted-form.ts';

const PLACEHOLDERS = new Placeholders(new Uint8Array(32).fill(7));

function shown(text: string): string {
  const steps = redacting(Buffer.from(text), 'gitconfig', PLACEHOLDERS);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value.bytes.toString().replace(/(?:[a-z]{2,3}_)?pdk[a-z2-7]{24}/g, '<>');
  }
}

/** What git reads in a file: names and values. */
function readByGit(text: string): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'paddock-git-config-'));
  try {
    writeFileSync(join(directory, 'config'), text);
    return execFileSync('git', ['config', '-f', 'config', '-l', '-z'], {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const TOKEN = 'ghp_aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5';

describe('the configuration of git', () => {
  it.each([
    '[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tautocrlf = input\n\tsshCommand = ssh -i ~/.ssh/id\n',
    '[core] filemode = true ; words\n# words only\n[extensions]\n\tobjectFormat = sha256\n\tworktreeConfig\n',
    '[remote "origin"]\n\turl = https://github.com/Org/Repo2-With-A-Long-Name.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
    '[remote "a"]\r\n\turl = git@github.com:o/r.git\r\n[remote "b"]\r\n\turl = ssh://git@host:22/o/r.git\r\n',
    '[branch "feature/x.y"]\n\tremote = origin\n\tmerge = refs/heads/x\n[user]\n\tname = A "B" C\n\temail = a@b.c\n',
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n[submodule "s"]\n\turl = ../s.git\n\tactive = true\n',
    '[url "git@github.com:"]\n\tinsteadOf = https://github.com/\n[credential]\n\thelper = cache\n\tuseHttpPath = true\n',
    '[alias]\n\tst = status -sb\n[http]\n\tpostBuffer = 524288000\n\tproxy = http://proxy:8080\n[gc]\n\tauto = 0\n',
    '[lfs "https://host/o/r.git/info/lfs"]\n\taccess = basic\n[remote "lan"]\n\turl = /srv/git/o/r.git\n',
  ])('is shown as it is without secrets: %j', (text) => {
    expect(shown(text)).toBe(text);
  });

  it.each([
    ['[remote "o"]\n\turl = https://user:pw@host/r.git\n', '[remote "o"]\n\turl = https://<>@host/r.git\n'],
    [`[remote "o"]\n\turl = https://${TOKEN}@host/r\n`, '[remote "o"]\n\turl = https://<>@host/r\n'],
    ['[remote "o"]\n\turl = "https://u:p@host/r"\n', '[remote "o"]\n\turl = <>\n'],
    ['[remote "o"]\n\turl = https://u:p\\\n@host/r\n', '[remote "o"]\n\turl = <>\n'],
    ['[remote "o"]\n\turl = ssh://git:pw@host/r\n', '[remote "o"]\n\turl = ssh://<>@host/r\n'],
    ['[remote "o"]\n\turl = https://u:p/w@host/r\n', '[remote "o"]\n\turl = <>\n'],
    ['[remote "o"]\n\turl = https://host/r?private_token=x\n', '[remote "o"]\n\turl = <>\n'],
    ['[remote "o"]\n\tpushurl = u:pw@host:r\n', '[remote "o"]\n\tpushurl = <>\n'],
    ['[remote "o"]\n\turl = https://a:b@h/ https://c:d@h/\n', '[remote "o"]\n\turl = <>\n'],
    [`[remote "o"]\n\turl = https://host/${TOKEN}/r\n`, '[remote "o"]\n\turl = https://host/<>/r\n'],
    [`[url "https://x:${TOKEN}@h/"]\n\tinsteadOf = https://h/\n`, '[url "https://<>@h/"]\n\tinsteadOf = https://h/\n'],
    ['[http "https://h/"]\n\textraheader = AUTHORIZATION: basic eA==\n', '[http "https://h/"]\n\textraheader = <>\n'],
    ['[http]\n\tcookieFile = /x\n\tproxy = http://u:p@h:1\n', '[http]\n\tcookieFile = <>\n\tproxy = http://<>@h:1\n'],
    ['[credential]\n\thelper = !echo password=x\n\tusername = u\n', '[credential]\n\thelper = <>\n\tusername = <>\n'],
    ['[credential "https://u:p@h"]\n\thelper = store --file=/x\n', '[credential "https://<>@h"]\n\thelper = <>\n'],
    ['[sendemail]\n\tsmtpServer = h\n\tsmtpPass = 12345\n', '[sendemail]\n\tsmtpServer = <>\n\tsmtpPass = <>\n'],
    [
      '[gitlab.host]\n\ttoken = x\n[hub]\n\tprotocol = https\n',
      '[gitlab.host]\n\ttoken = <>\n[hub]\n\tprotocol = <>\n',
    ],
    ['[alias]\n\tp = !curl -H "X: y" h\n', '[alias]\n\tp = <>\n'],
    ['[core]\n\tsshCommand = sshpass -p pw ssh\n', '[core]\n\tsshCommand = <>\n'],
    ['[filter "x"]\n\tclean = openssl enc -pass pass:pw\n', '[filter "x"]\n\tclean = <>\n'],
    ['# url = https://u:p@h/\n;password: x\n', '# <>\n;<>\n'],
    ['[remote "o"] url = https://h/ # old: https://u:p@h/\n', '[remote "o"] url = https://h/ # <>\n'],
    [`[user]\n\tname = ${TOKEN}\n`, '[user]\n\tname = <>\n'],
  ])('has placeholders: %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it.each(['[a\n', '[core]\n\tx = "no end\n', '[core]\n\tx = \\q\n', '[core]\n\t1x = 1\n', '[core]\n\tx y = 1\n'])(
    'is hidden as a whole if git does not read it: %j',
    (text) => {
      expect([shown(text), readByGit(text)]).toEqual(['# hidden\n', undefined]);
    },
  );

  it('is read by git as it was, but for the values that are hidden', () => {
    const word = fc.constantFrom(
      'a',
      '"',
      '\\"',
      '\\\\',
      '\\n',
      '\\\n',
      '\\\r\n',
      ' ',
      '\t',
      '#',
      ';',
      '=',
      '"x y"',
      '[',
      ']',
      'é',
      '\r',
    );
    const value = fc.array(word, { maxLength: 6 }).map((words) => words.join(''));
    const line = fc.oneof(
      value.map((text) => `\tname = ${text}\n`),
      value.map((text) => `[core]x=${text}\r\n`),
      value.map((text) => `[remote "${text}"]\n`),
      value.map((text) => `password = ${text}\n`),
      value.map((text) => `; ${text}\n`),
      fc.constantFrom('\tflag\n', '[Alias.Sub] flag ; x\n', '[http "https://u:pw@h/"]\n', '\n', ' \r\n'),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        const text = `[core]\n${lines.join('')}`;
        const [before, after] = [readByGit(text), readByGit(shown(text))];
        const without = (all = '') =>
          all
            .split('\0')
            .map((entry) => entry.replace(/u:pw|(?<=password\n).*$/gs, '').replace(/pdk[a-z2-7]{24}|<>/, ''));
        if (before === undefined) expect(['# hidden\n', text.replace(/^\ufeff/, '')]).toContain(shown(text));
        else expect(without(after)).toEqual(without(before));
      }),
      { numRuns: 150 },
    );
  });

  it('of a megabyte is looked at in time', () => {
    for (const text of [
      '[core]\n'.repeat(140_000),
      `[a]\nx=${'"a" '.repeat(250_000)}`,
      `[core]x=${'a://'.repeat(250_000)}`,
      ` ${'\\'.repeat(1e6)}`,
    ]) {
      const start = performance.now();
      shown(text);
      expect(performance.now() - start).toBeLessThan(5000);
    }
  });
});
