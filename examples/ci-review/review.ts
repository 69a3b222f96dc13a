/**
 * Reviews an agent's patch: applies it in a sandbox, runs the tests there, and takes over only the allowed paths.
 * usage: node review.ts REPOSITORY PATCH --test COMMAND --allow PATH [--allow PATH]...
 * Exit code 1: the patch does not apply, or the tests fail; nothing is changed. 2: it also changes paths that are not allowed.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Sandbox, TimeoutError } from 'paddock-sandbox';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { test: { type: 'string' }, allow: { type: 'string', multiple: true } },
});
const [repository, patch] = positionals;
const { test, allow = [] } = values;
if (repository === undefined || patch === undefined || test === undefined || allow.length === 0) {
  console.error('usage: node review.ts REPOSITORY PATCH --test COMMAND --allow PATH [--allow PATH]...');
  process.exit(1);
}

process.exitCode = await review(repository, await readFile(patch), test);

async function review(directory: string, diff: Uint8Array, command: string): Promise<number> {
  // No network, and no secrets: the tests run what the agent wrote.
  await using sandbox = await Sandbox.create({
    from: directory,
    preset: 'development',
    labels: { example: 'ci-review' },
  });
  const applied = await sandbox.run('git apply --whitespace=nowarn -', { stdin: diff });
  if (!applied.ok) return failed(`The patch does not apply:\n${applied.stderr}`);
  const changed = (await sandbox.changes()).map(({ path }) => path);
  try {
    const tests = await sandbox.run(command, { timeout: '10m', maxOutput: 50_000, merge: true });
    console.log(tests.output);
    if (!tests.ok) return failed(`The tests fail: exit code ${tests.exitCode}`);
  } catch (error) {
    if (error instanceof TimeoutError) return failed(`${error.output}\nThe tests do not end within 10 minutes.`);
    throw error;
  }
  // Of the patch alone: what the tests wrote is not part of it.
  const taken = changed.filter((path) =>
    allow.some((allowed) => `${path}/`.startsWith(`${allowed.replace(/\/+$/, '')}/`)),
  );
  const refused = changed.filter((path) => !taken.includes(path));
  if (taken.length > 0) {
    console.log(await sandbox.patch({ paths: taken }));
    const { applied: written, conflicts } = await sandbox.pull(directory, { paths: taken });
    console.log(`taken over: ${written.join(', ')}`);
    if (conflicts.length > 0) return failed(`Changed meanwhile, and left as they are: ${conflicts.join(', ')}`);
  }
  if (refused.length === 0) return 0;
  console.error(`Not allowed: ${refused.join(', ')}`);
  return 2;
}

function failed(reason: string): number {
  console.error(reason);
  return 1;
}
