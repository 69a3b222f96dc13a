import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { Paddock } from 'paddock-sandbox';
import { expect, it } from 'vitest';

const ADAPTERS = resolve(import.meta.dirname, '..');
/** Made by scripts/test-adapters.sh. */
const PYTHON = resolve(ADAPTERS, 'node_modules/.python/bin/python');
const SECONDS = 1000;

async function python(...args: string[]): Promise<string> {
  const paths = [resolve(ADAPTERS, 'python'), resolve(ADAPTERS, '../python')];
  const env = { ...process.env, PYTHONPATH: paths.join(':'), PYTHONDONTWRITEBYTECODE: '1' };
  const found = promisify(execFile)(PYTHON, args, { cwd: ADAPTERS, env, maxBuffer: 2 ** 24 });
  return (await found.catch((error: { stdout: string; stderr: string }) => ({ stdout: error.stdout + error.stderr })))
    .stdout;
}

const tests = (file: string) => python('-m', 'pytest', '-q', '-p', 'no:cacheprovider', `python/tests/${file}`);

it("passes Inspect's own checks of sandboxes, but for two that are named", { timeout: 600 * SECONDS }, async () => {
  expect(await tests('test_inspect.py')).toMatch(/\n50 passed, 2 xfailed/);
});

it('passes the tests of the OpenAI Agents SDK for Python', { timeout: 300 * SECONDS }, async () => {
  expect(await tests('test_openai_agents.py')).toMatch(/\n14 passed/);
});

it('runs inspect_eval.py', { timeout: 300 * SECONDS }, async () => {
  const said = await python('examples/inspect_eval.py');
  expect(said).toMatch(/^success 1\.0\n.*key\.pem: No such file.*assistant: The answer is in answer\.txt\./s);
});

it('runs openai_agents.py, which leaves no sandbox', { timeout: 300 * SECONDS }, async () => {
  expect(await python('examples/openai_agents.py')).toMatch(
    /^The answer is in answer\.txt\.\n.*What is six.*No such file.*\n(.*\n)*\+42\n/,
  );
  const left = [];
  for await (const { id } of new Paddock().sandboxes.list({ labels: { example: 'openai_agents.py' } })) left.push(id);
  expect(left).toEqual([]);
});
