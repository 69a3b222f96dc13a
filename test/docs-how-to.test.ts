import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Tmux } from './clients/cli/tmux.ts';
import { PYTHON, pythonPath } from './clients/python-packages.ts';

const ROOT = resolve(import.meta.dirname, '..');
const PAGES = join(ROOT, 'docs/how-to');
const TABS = ['Command line', 'TypeScript', 'Python', 'REST'];
const run = promisify(execFile);

const TOTAL = 'a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\nh = 8\ni = 9\n';
const PATCH = `--- a/src/total.py\n+++ b/src/total.py\n@@ -1,3 +1,3 @@\n-a = 1\n+a = 2\n b = 2\n c = 3\n`;

/** The files of the project afterwards, beyond those that it had: the same for each tab of a page. */
const RESULTS: Record<string, Record<string, string>> = {
  'best-of-n.md': { 'answer.txt': '2\n' },
  'ci.md': { 'src/total.py': TOTAL.replace('a = 1', 'a = 2') },
  'first-run.md': { 'docs/files.txt': 'agent.patch\ndocs\nsrc\ntest.sh\n' },
  'my-agent.md': { 'src/total.py': TOTAL.replace('i = 9', 'i = 10') },
  'review.md': { 'src/total.py': TOTAL.replace('a = 1', '# one') },
  'team-server.md': {},
};

let home: string;
let project: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'paddock-how-to-'));
  project = join(home, 'my-project');
  await mkdir(join(home, 'programs'));
  await symlink(join(ROOT, 'dist/paddock.mjs'), join(home, 'programs/paddock'));
  const { PATH } = process.env;
  environment = {
    HOME: home,
    PADDOCK_LOCAL_STATE: join(home, 'local'),
    PAGER: 'cat',
    PATH: `${home}/programs:${PATH}`,
    PYTHONPATH: pythonPath(),
  };
  const { stdout } = await run('paddock', ['server', 'env'], { env: environment });
  for (const [, name = '', value] of stdout.matchAll(/(PADDOCK_\w+)='?([^';\s]*)/g)) environment[name] = value;
});

afterAll(async () => {
  await run('paddock', ['server', 'stop'], { env: environment }).catch(() => {});
  await rm(home, { recursive: true });
});

async function makeProject(): Promise<void> {
  await rm(project, { recursive: true, force: true });
  for (const each of ['docs', 'src']) await mkdir(join(project, each), { recursive: true });
  await writeFile(join(project, 'src/total.py'), TOTAL);
  await writeFile(join(project, 'agent.patch'), PATCH);
  await writeFile(join(project, 'test.sh'), 'grep -q "a = 2" src/total.py && touch src/left.txt\n');
}

async function filesOf(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (each) => [each.slice(directory.length + 1), await readFile(each, 'utf8')])),
  );
}

/** The first block below each tab, and what a person answers. */
async function tabsOf(page: string): Promise<Record<string, { code: string; answers: string[] }>> {
  const text = await readFile(join(PAGES, page), 'utf8');
  const found = text.matchAll(/^\*\*(.+)\*\*\n+(?:<!-- answers: (.*) -->\n)?```\w+\n([\s\S]*?)^```/gm);
  return Object.fromEntries(
    [...found].map(([, tab, answers, code = '']) => [tab, { code, answers: answers?.split(' ') ?? [] }]),
  );
}

/** Runs a program as its tab says. Returns its standard output; a code other than 0 is an error. */
async function perform(tab: string, code: string, answers: readonly string[]): Promise<string> {
  const options = { cwd: project, env: environment };
  if (tab === 'Python') return (await run(PYTHON, ['-c', code], options)).stdout;
  if (tab === 'TypeScript') {
    const bundle = await build({
      stdin: { contents: code, loader: 'ts', resolveDir: project },
      alias: { 'paddock-sandbox': join(ROOT, 'clients/typescript/src/index.ts') },
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      target: 'node20',
    });
    await writeFile(join(home, 'program.mjs'), bundle.outputFiles[0]!.text);
    return (await run('node', [join(home, 'program.mjs')], options)).stdout;
  }
  if (answers.length > 0) return answered(code, answers);
  return (await run('bash', ['--norc', '-euo', 'pipefail', '-c', code], options)).stdout;
}

/** Runs a script on a terminal, and answers its question. */
async function answered(code: string, answers: readonly string[]): Promise<string> {
  const script = join(home, 'script.sh');
  await writeFile(script, code);
  const command = `cd ${project} && PATH=${environment.PATH} bash --norc -eu ${script}; echo code=$?; sleep 1000`;
  const terminal = Tmux.start(command, environment as Record<string, string>);
  await terminal.shows(/Take these \d+ changes\?/);
  terminal.type(...answers.flatMap((answer) => [answer, 'Enter']));
  await terminal.shows('code=0');
  return terminal.screen();
}

describe.each(Object.entries(RESULTS))('docs/how-to/%s', (page, result) => {
  it.each(TABS)('has the described result by its tab %s', async (tab) => {
    const { code, answers } = (await tabsOf(page))[tab]!;
    await makeProject();
    const before = await filesOf(project);
    const output = await perform(tab, code, answers);
    expect(await filesOf(project), output).toEqual({ ...before, ...result });
    if (page === 'team-server.md') {
      const key = /pdk_\w+-?[\w-]*/.exec(output)?.[0];
      const caller = await fetch(`${environment.PADDOCK_URL}/v1/caller`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(await caller.json()).toMatchObject({ role: 'owner', owner_id: 'ann' });
    }
  });
});

/** The program of a column of docs/clients.md: the code of its cells, one below the other. */
async function columnOf(column: number): Promise<string> {
  const text = await readFile(join(ROOT, 'docs/clients.md'), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  const cells = rows.map((row) => row.split(/(?<!\\)\|/)[column + 1]!.replaceAll('\\|', '|'));
  const functions = column === 3 ? /```sh\n([\s\S]*?)```/.exec(text)![1]! : '';
  return functions + cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code)).join('\n');
}

it.each([
  ['TypeScript', 1],
  ['Python', 2],
  ['curl', 3],
])('the table of docs/clients.md is a program in %s', async (tab, column) => {
  await makeProject();
  expect(await perform(tab, await columnOf(column), [])).toBe(
    '3\ntotal.py\n0\none\n0\n42\n9\nkey\ntrue\nnew\n4\nsrc/total.py\n54\nNOT_FOUND\nc\n2\nc\ntotal.py\ntrue\npdk_\n',
  );
});

it('each page of docs/how-to begins with the same in four tabs', async () => {
  const pages = await readdir(PAGES);
  expect(pages.toSorted()).toEqual(Object.keys(RESULTS));
  for (const page of pages) expect(Object.keys(await tabsOf(page)), page).toEqual(TABS);
});
