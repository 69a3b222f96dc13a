import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
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

it("passes Inspect's own checks of sandboxes, but for two that are named", { timeout: 600 * SECONDS }, async () => {
  expect(await python('-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'python/tests')).toMatch(
    /\n49 passed, 2 xfailed/,
  );
});

it('runs inspect_eval.py', { timeout: 300 * SECONDS }, async () => {
  const said = await python('examples/inspect_eval.py');
  expect(said).toMatch(/^success 1\.0\n.*key\.pem: No such file.*assistant: The answer is in answer\.txt\./s);
});
