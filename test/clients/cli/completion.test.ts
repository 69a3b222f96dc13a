import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { complete } from '../../../clients/cli/src/command-line/complete.ts';
import { Paddock } from '../../../clients/typescript/src/index.ts';
import { emptyDirectory } from '../../directory.ts';
import { cli } from './cli.ts';

const directory = emptyDirectory();
const HOSTILE = ['$(touch owned)', 'a b', '*', '-rf'];

/** Answers of a server with these names of sandboxes and images. */
const answering = (request: string | URL | Request): Promise<Response> => {
  const { pathname } = new URL(request instanceof Request ? request.url : request);
  const page = pathname.endsWith('/images')
    ? { images: [{ id: 'sha256:1', names: ['python:3.12', ...HOSTILE] }] }
    : { sandboxes: HOSTILE.map((name, at) => ({ id: `sb_${at}`, labels: { name } })) };
  return Promise.resolve(Response.json({ ...page, next_page_token: '' }));
};
const words = async (...line: string[]) => {
  const paddock = new Paddock({ url: 'http://server.test', fetch: answering as typeof fetch });
  return (await complete(line, async () => paddock)).map((each) => each.split('\t')[0]);
};

it('completes commands, their second words, options, and the values that an option may have', async () => {
  expect(await words('ex')).toEqual(['exec']);
  expect(await words('key', '')).toEqual(['create', 'ls', 'revoke', 'whoami']);
  expect(await words('exec', '--det')).toEqual(['--detach', '--detach-keys']);
  expect(await words('key', 'create', '--s')).toEqual(['--sandbox', '--scope']);
  expect(await words('commit', '--on-conflict', '')).toEqual(['ours', 'theirs']);
  expect(await words('completion', '')).toEqual(['bash', 'zsh', 'fish']);
});

it('completes operands and values by what they are, and files otherwise', async () => {
  const ids = ['sb_0', 'sb_1', 'sb_2', 'sb_3'];
  expect(await words('exec', '-it', '')).toEqual(ids);
  expect(await words('exec', 'sb_0', '')).toEqual([]);
  expect(await words('rm', 'sb_0', '')).toEqual(ids);
  expect(await words('diff', 'sb_0', '')).toEqual([]);
  expect(await words('key', 'create', '--sandbox', 'sb_1')).toEqual(['sb_1']);
  expect(await words('cp', 'notes.txt', 'sb_1')).toEqual(['sb_1:']);
  expect(await words('create', '--image', '')).toEqual(['python:3.12']);
  expect(await words('create', '--from', '')).toEqual([]);
});

it('is silent where the server does not answer', async () => {
  const { code, stdout, stderr } = await cli(['__complete', 'exec', ''], { url: 'http://127.0.0.1:1' });
  expect([code, stdout, stderr]).toEqual([0, '', '']);
});

it('bash offers the words, without a space after "SANDBOX:", and runs nothing that is in them', async () => {
  const { stdout: script } = await cli(['completion', 'bash']);
  await writeFile(
    join(directory, 'line.sh'),
    `${script}
compopt() { echo "compopt $*"; }
paddock() { printf '%s\\t%s\\n' "$2:" '$(touch owned)' "$3" "$4"; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_paddock; printf '%s\\n' "\${COMPREPLY[@]}"`,
  );
  const line = ['line.sh', 'paddock', 'cp', '$(touch owned)', ''];
  const offered = execFileSync('bash', ['--norc', ...line], { cwd: directory, encoding: 'utf8' });
  expect(offered).toBe('compopt -o nospace\ncp:\n$(touch owned)\n');
  expect(() => execFileSync('test', ['-e', join(directory, 'owned')])).toThrow();
});

it.each(['zsh', 'fish'])('the script for %s asks for each word', async (shell) => {
  expect((await cli(['completion', shell])).stdout).toContain('paddock __complete');
});
