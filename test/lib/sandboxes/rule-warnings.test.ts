import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { withBreaks } from '../../../lib/breaks.ts';
import { fromText } from '../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import { silentLog } from '../../../lib/log.ts';
import { findPreset } from '../../../lib/permissions/index.ts';
import { readNames } from '../../../lib/sandboxes/permissions/warnings/codebase-names.ts';
import { RuleWarnings } from '../../../lib/sandboxes/permissions/warnings/rule-warnings.ts';
import { findingWarnings } from '../../../lib/sandboxes/permissions/warnings/warnings.ts';
import { directory, file, glob } from '../permissions/rules.ts';

function codebase(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'paddock-warnings-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

const KEY = '-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n';
const FILES = {
  'README.md': 'r',
  'src/a.ts': 'a',
  'src/lib/b.ts': 'b',
  '.env': 'TOKEN=x',
  '.env.example': 'TOKEN=',
  'deploy/ci': KEY,
};

/** `code index path` of each warning. */
async function warned(rules: PermissionRule[], own = 0, files: Record<string, string> = FILES): Promise<string[]> {
  const warnings = await withBreaks(findingWarnings(rules, own, await readNames(codebase(files))));
  return warnings.map(({ code, rule, path }) => [code, rule, path].join(' ').trim());
}

it('examines many hidden secrets in short steps', () => {
  const secrets = Array.from({ length: 1000 }, (_, index) => ({ path: fromText(`.env.${index}`), why: 'its name' }));
  const names = { entries: [], secrets, complete: { names: true, contents: true } };
  expect([...findingWarnings([glob('**/.env*', 'NONE')], 0, names)].length).toBeGreaterThan(1000 / 64);
});

const NO_SECRETS = [glob('**/.env*', 'NONE', 9), glob('deploy/**', 'NONE', 9)];

it.each([
  ['no rule', [], ['no_rules -1']],
  ['rules that are meant', [...NO_SECRETS, glob('**', 'READ'), glob('src/**', 'WRITE')], []],
  [
    'a pattern that matches nothing',
    [...NO_SECRETS, glob('**', 'READ'), glob('scr/**', 'WRITE')],
    ['matches_nothing 3'],
  ],
  [
    'scratch that is not there yet',
    [...NO_SECRETS, glob('**', 'READ'), { ...glob('tmp/**', 'WRITE'), scratch: true }],
    [],
  ],
  [
    'the name of a directory as a glob',
    [...NO_SECRETS, glob('**', 'READ'), glob('src', 'WRITE')],
    ['directory_only 3'],
  ],
  [
    'a file pattern of a directory',
    [...NO_SECRETS, glob('**', 'READ'), file('src/lib', 'WRITE')],
    ['directory_only 3'],
  ],
  ['the name of a directory as such', [...NO_SECRETS, glob('**', 'READ'), directory('src', 'WRITE')], []],
  ['a rule that never decides', [...NO_SECRETS, glob('**', 'READ', 1), glob('src/**', 'WRITE')], ['never_decides 3']],
  [
    'readable secrets, by name and by contents',
    [glob('**', 'READ')],
    ['readable_secret 0 .env', 'readable_secret 0 deploy/ci'],
  ],
  ['secrets that are listed only', [glob('**', 'VIEW')], []],
])('warns of %s', async (_, rules, expected) => {
  expect(await warned(rules as PermissionRule[])).toEqual(expected);
});

it('does not warn of the rules of a preset', async () => {
  const { permissions } = findPreset('agent-safe')!;
  expect(await warned([...permissions, glob('src/**', 'WRITE')], permissions.length)).toEqual([
    'readable_secret 0 deploy/ci',
  ]);
});

it('says that a large codebase was examined in part, and claims nothing of it', async () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, 'x']));
  expect(await warned([glob('**', 'READ'), glob('none', 'READ')], 0, many)).toEqual([
    'matches_nothing 1',
    'incomplete -1',
  ]);
});

it('tells of the same rules that never decide, whatever the codebase has', async () => {
  const rules = [glob('**', 'READ', 1), ...Array.from({ length: 60 }, (_, index) => glob(`d${index}/**`, 'WRITE'))];
  const neverDeciding = async (files: Record<string, string>) =>
    (await warned(rules, 0, files)).filter((warning) => warning.startsWith('never_decides'));
  const secrets = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`s${index}/.env`, 'TOKEN=x']));
  const inNone = await neverDeciding({});
  expect(inNone.length).toBeGreaterThan(20);
  expect(await neverDeciding(secrets)).toEqual(inNone);
  expect(await warned(rules, 0, secrets)).toHaveLength(50);
});

it('reads a codebase once for each of its versions', async () => {
  const root = codebase({ a: 'a' });
  const warnings = new RuleWarnings(() => root, silentLog);
  const codes = async () => {
    const found = await warnings.look('cb_1', [glob('**', 'READ'), glob('b', 'READ')], 0).settled();
    return found.map(({ code }) => code);
  };
  await expect.poll(codes, { timeout: 30_000 }).toEqual(['matches_nothing']);
  writeFileSync(join(root, 'b'), 'b');
  expect(await codes()).toEqual(['matches_nothing']);
  warnings.codebaseChanged('cb_1');
  await expect.poll(codes, { timeout: 30_000 }).toEqual([]);
});

it('waits for the warnings of a few files also on a busy host', async () => {
  const warnings = new RuleWarnings(() => codebase({ a: 'a' }), silentLog);
  const pending = warnings.look('cb_1', [glob('**', 'READ'), glob('b', 'READ')], 0);
  for (const until = performance.now() + 50; performance.now() < until; );
  expect((await pending.settled()).map(({ code }) => code)).toEqual(['matches_nothing']);
});

it('answers without a codebase, and does not wait for a slow one', async () => {
  const warnings = new RuleWarnings(() => join(tmpdir(), 'paddock-none'), silentLog);
  await expect
    .poll(async () => (await warnings.look('cb_1', [glob('**', 'READ')], 0).settled()).map(({ code }) => code), {
      timeout: 30_000,
    })
    .toEqual(['incomplete']);
});
