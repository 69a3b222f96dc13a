/**
 * Reviews an agent's patch: applies it in a sandbox, runs the tests there, and takes over only the allowed paths.
 * usage: node review.ts REPOSITORY PATCH --test COMMAND --allow PATH [--allow PATH]...
 * Exit code 1: the patch does not apply, or the tests fail; nothing is changed. 2: not all of it was taken over, because it also
 * changes paths that are not allowed, or a path could not be written.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { CommandTimeoutError, Paddock, type Sandbox } from 'paddock-sandbox';

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

const paddock = new Paddock();
const codebase = await paddock.codebases.create({ name: 'ci-review', from: repository });
try {
  process.exitCode = await review(repository, await readFile(patch), test);
} finally {
  await paddock.codebases.delete(codebase.id);
}

async function review(directory: string, diff: Uint8Array, command: string): Promise<number> {
  // No network, and no secrets: the tests run what the agent wrote.
  await using sandbox = await paddock.sandboxes.create({
    codebase: codebase.id,
    preset: 'development',
    labels: { example: 'ci-review' },
  });
  const applied = await sandbox.run('git apply --whitespace=nowarn -', { stdin: diff });
  if (!applied.ok) return failed(`The patch does not apply:\n${applied.stderr}`);
  // In a copy: the tests could change the files that are taken over, after they were reviewed and before they are copied.
  await using copy = await sandbox.fork();
  const problem = await problemOf(copy, command);
  if (problem !== undefined) return failed(problem);
  const isAllowed = (path: string) => allow.some((allowed) => `${path}/`.startsWith(`${allowed.replace(/\/+$/, '')}/`));
  const refused = (await sandbox.changes()).map(({ path }) => path).filter((path) => !isAllowed(path));
  const pulled = await sandbox.pull(directory, { only: isAllowed });
  console.log(`taken over: ${pulled.applied.join(', ') || 'nothing'}`);
  if (refused.length > 0) console.error(`Not allowed: ${refused.join(', ')}`);
  if (pulled.conflicts.length > 0) console.error(`Changed here meanwhile: ${pulled.conflicts.join(', ')}`);
  const rest = [
    ...pulled.skipped.map(({ path, reason }) => `${path}: ${reason}`),
    ...pulled.failed.map(({ path, error }) => `${path}: ${error.message}`),
  ];
  for (const line of rest) console.error(line);
  return refused.length + pulled.conflicts.length + rest.length > 0 ? 2 : 0;
}

/** Why the tests did not pass. */
async function problemOf(sandbox: Sandbox, command: string): Promise<string | undefined> {
  try {
    const tests = await sandbox.run(command, { timeout: '10m', maxOutput: 50_000, merge: true });
    console.log(tests.output);
    return tests.ok ? undefined : `The tests fail: exit code ${tests.exitCode}`;
  } catch (error) {
    if (error instanceof CommandTimeoutError) return `${error.output}\nThe tests do not end within 10 minutes.`;
    throw error;
  }
}

function failed(reason: string): number {
  console.error(reason);
  return 1;
}
