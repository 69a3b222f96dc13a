import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Paddock } from 'paddock-sandbox';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');

/** A copy of examples/, with the clients installed as a user has them. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paddock-examples-'));
  await cp(join(ROOT, 'examples'), folder, { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  await symlink(join(ROOT, 'clients/typescript'), join(folder, 'node_modules/paddock-sandbox'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  const left = [];
  for await (const { id, info } of new Paddock().sandboxes.list())
    if (info.labels.example) left.push(`${id} ${info.labels.example}`);
  expect(left).toEqual([]);
});

const PYTHON = join(ROOT, 'clients/adapters/node_modules/.python/bin/python');

interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

function run(program: string, args: string[], cwd = folder): Promise<Printed> {
  const env = { ...process.env, PYTHONPATH: join(ROOT, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' };
  return new Promise((done) => {
    execFile(program, args, { cwd, env }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

it('the agent loop does the same in TypeScript and in Python, in 60 lines', async () => {
  const typescript = await run(process.execPath, ['agent-loop/agent.ts']);
  const python = await run(PYTHON, ['agent-loop/agent.py']);
  expect(typescript.stderr).toBe('');
  expect(typescript.stdout).toMatch(
    /AssertionError: 2 and 3 are not -1.*passed.*test\.py: Permission denied.*token: No such file.*- {4}return a - b\n\+ {4}return a \+ b/s,
  );
  expect(python).toEqual(typescript);
  for (const name of ['agent.ts', 'agent.py']) {
    const lines = (await readFile(join(folder, 'agent-loop', name), 'utf8')).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(60);
  }
});

it('agents work on tickets under the rules, and their work is not lost', async () => {
  const { stdout, stderr } = await run(PYTHON, ['tickets/main.py']);
  expect(stderr).toBe('');
  for (const ticket of ['17', '18']) {
    const rows = stdout.split(`ticket ${ticket}: `)[1]!.split('\n').slice(1, 6);
    expect(rows).toEqual([
      expect.stringMatching(/\$ ls: \['docs', 'metadata', 'tickets'\]$/),
      expect.stringMatching(/\$ ls metadata: \['customers.csv'\]$/),
      expect.stringMatching(/customers.csv: Permission denied$/),
      expect.stringMatching(/api-key: No such file or directory$/),
      expect.stringMatching(/Permission denied$|Read-only/),
    ]);
  }
  expect(stdout).toMatch(/\+## How do I reset my password\?/);
  expect(stdout).toMatch(/first: \('docs\/faq.md',\)\nsecond: \(\) conflicts: \('docs\/faq.md',\)\n$/);
});

it('a web server of an agent is seen by a link, until its sandbox ends', async () => {
  const { stdout, stderr } = await run(process.execPath, ['web-server/serve.ts']);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/<h1>Made in a sandbox<\/h1>\ncurl: .*Could not resolve host.*\n\[exit code 6\]/);
  const [, link] = /open in a browser: (http:.*\?paddock_token=pdl_.*)/.exec(stdout)!;
  expect(stdout).toMatch(/\n200 text\/html.*: <h1>Made in a sandbox<\/h1>\n$/);
  expect((await fetch(link!)).status).toBe(404);
});

const NEW_LINE = `--- a/src/a.txt
+++ b/src/a.txt
@@ -1 +1,2 @@
 one
+two
`;
const NEW_JOB = `--- /dev/null
+++ b/.github/job.yml
@@ -0,0 +1 @@
+run: anything
`;
const NEW_LINK = `diff --git a/src/out b/src/out
new file mode 120000
--- /dev/null
+++ b/src/out
@@ -0,0 +1 @@
+/etc/passwd
\\ No newline at end of file
`;

it('CI takes over the allowed paths of a patch, after its tests', async () => {
  const repository = join(folder, 'repository');
  await mkdir(join(repository, 'src'), { recursive: true });
  await writeFile(join(repository, 'src/a.txt'), 'one\n');
  await writeFile(join(repository, '.env'), 'TOKEN=secret\n');
  execFileSync('git', ['init', '-q'], { cwd: repository });
  const review = async (patch: string, test: string) => {
    await writeFile(join(folder, 'agent.patch'), patch);
    const args = ['ci-review/review.ts', repository, 'agent.patch', '--test', test, '--allow', 'src'];
    const { code, stdout, stderr } = await run(process.execPath, args);
    return { code, said: stdout + stderr, file: await readFile(join(repository, 'src/a.txt'), 'utf8') };
  };
  const failing = await review(NEW_LINE, 'cat .env; false');
  expect(failing).toMatchObject({
    code: 1,
    file: 'one\n',
    said: expect.stringMatching(/^(?!.*secret).*TOKEN=\w+.*exit code 1/s),
  });
  expect(await review('no patch', 'true')).toMatchObject({ code: 1, said: expect.stringMatching(/does not apply/) });
  // What the tests do to the files of the patch is not what was reviewed.
  const mixed = await review(NEW_LINE + NEW_JOB, 'touch src/made; grep two src/a.txt && echo evil > src/a.txt');
  expect(mixed).toMatchObject({
    code: 2,
    file: 'one\ntwo\n',
    said: expect.stringMatching(/taken over: src\/a\.txt\n.*Not allowed: .*job\.yml/s),
  });
  await expect(readFile(join(repository, '.github/job.yml'))).rejects.toThrow(/ENOENT/);
  await expect(readFile(join(repository, 'src/made'))).rejects.toThrow(/ENOENT/);
  expect(await review(NEW_LINE, 'true')).toMatchObject({ code: 1, said: expect.stringMatching(/does not apply/) });
  // A symlink that leads out of the repository is part of the patch, and is not brought.
  expect(await review(NEW_LINK, 'true')).toMatchObject({ code: 2, said: expect.stringMatching(/src\/out: /) });
});
