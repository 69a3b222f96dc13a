/**
 * Runs the same work natively and in `paddock run` with the default preset, on projects made from real packages, and compares:
 * exit codes, counts of tests, installed files, and what git says. Each difference is a fault of the sandbox or of its preset.
 *
 *     npm run test:same-as-native [-- NAME...]
 *
 * Packages are fetched before, natively, with the caller's own configuration of pip, npm, Go and Cargo, into a directory of the project;
 * both sides then install from there. Needs what `paddock run` needs, the registries, and each project's tools; it takes some minutes.
 */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { differences, resultsOf } from './same-as-native/compare.mjs';
import { cargo, go } from './same-as-native/compiled.mjs';
import { fastify } from './same-as-native/node.mjs';
import { flask, requests } from './same-as-native/python.mjs';
import { commitAll, SECRET, writeCommon } from './same-as-native/repository.mjs';
import { Sides } from './same-as-native/sides.mjs';

const PROJECTS = { flask, requests, fastify, go, cargo };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in PROJECTS));
if (unknown.length > 0) {
  process.stderr.write(`no such project: ${unknown.join(', ')}; there are ${Object.keys(PROJECTS).join(', ')}\n`);
  process.exit(2);
}

const home = realpathSync(mkdtempSync(join(tmpdir(), 'paddock-same-')));
const sides = new Sides(home);
let failed = 0;
let passed = 0;
try {
  for (const [name, project] of Object.entries(PROJECTS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const found = compare(name, project);
    for (const each of found) process.stdout.write(`  ${each}\n`);
    process.stdout.write(`${found.length === 0 ? 'same' : 'DIFFERENT'}: ${name}\n`);
    if (found.length === 0) passed++;
    else failed++;
  }
} finally {
  sides.close();
  rmSync(home, { recursive: true, force: true });
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/**
 * What differs, as sentences.
 *
 * @param {string} name
 * @param {{ prepare: (directory: string) => void, steps: string[][], installed: string[], env?: Record<string, string> }} project
 */
function compare(name, { prepare, steps, installed, env = {} }) {
  // Of one length: paths are written into installed files, whose sizes are compared.
  const at = { native: join(home, name, 'native'), inside: join(home, name, 'inside') };
  mkdirSync(at.native, { recursive: true });
  prepare(at.native);
  writeCommon(at.native);
  commitAll(at.native);
  cpSync(at.native, at.inside, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const program = script(steps, installed);
  const native = resultsOf(sides.native(at.native, program, env));
  const inside = resultsOf(sides.inside(at.inside, program, env));
  const found = differences(native, inside);
  if (inside.output.includes(SECRET)) found.push('a secret of the project was shown inside');
  if (!native.output.includes(SECRET)) found.push('the secret was not shown natively: nothing was compared');
  if (inside.refused !== '') found.push(inside.refused);
  return found;
}

/** One program of sh: each step with its exit code and output, then what the two sides must have the same. */
function script(steps, installed) {
  const each = steps.map(([name, command]) => `echo "== ${name}"\n( ${command} ) 2>&1 </dev/null\necho "== exit $?"`);
  const files = `find ${installed.join(' ')} ! -name '*.pyc' ! -name __pycache__ ! -type d -printf '%p %y %m %s\\n' | LC_ALL=C sort`;
  const plain = 'cat .npmrc .env.example ca.pem tests/fixture.pem; git check-ignore .env server.key';
  return [
    ...each,
    ...['echo "== installed"', files, 'echo "== exit $?"'],
    ...['echo "== git"', 'git status --porcelain --untracked-files=normal', 'echo "== exit $?"'],
    ...['echo "== no secrets"', plain, 'echo "== exit $?"'],
    ...['echo "== secrets"', 'cat .env server.key'],
  ].join('\n');
}
