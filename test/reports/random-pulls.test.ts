import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PYTHON, pythonPath } from '../clients/python-packages.ts';
import { type Case, pulled } from '../clients/typescript/pull-cases.ts';
import { put, snapshot } from '../clients/typescript/pull-trees.ts';
import { parents, type Random, random } from './random-pulls-model.ts';

const RUNS = Number(process.env.PADDOCK_MODEL_RUNS ?? 8) * 20;
const SEED = process.env.PADDOCK_MODEL_SEED === undefined ? {} : { seed: Number(process.env.PADDOCK_MODEL_SEED) };
const TESTS = resolve(import.meta.dirname, '../../clients/python/tests');

interface Outcome {
  lists: { applied: string[]; unchanged: string[]; conflicts: string[]; failed: string[]; skipped: string[] };
  dry: Outcome['lists'];
  tree: Record<string, string>;
}

/** Each case with the Python client, in one program. */
const SCRIPT = `
import json, os, sys, tempfile
from paddock_sandbox import Paddock, Sandbox
from pull_cases import CaseServer
from pull_trees import put, snapshot
found = []
with CaseServer() as server, Paddock(url=server.url) as client:
    def pulled(case, root, dry_run):
        options = dict(case.get("options", {}))
        if "only" in options: options["only"] = options["only"].__contains__
        server.case, server.root = case, root
        server.steps = []
        result = Sandbox.connect("sb_1", paddock=client).pull(root, dry_run=dry_run, **options)
        names = ("applied", "unchanged", "conflicts", "failed", "skipped")
        return {name: list(getattr(result, name)) for name in names}
    for case in json.load(sys.stdin):
        with tempfile.TemporaryDirectory() as above:
            root = os.path.join(above, "home")
            os.mkdir(root)
            for tree in (case["base"], case["local"]): put(root, tree)
            dry = pulled(case, root, True)
            lists = pulled(case, root, False)
            assert os.listdir(above) == ["home"]
            found.append({"lists": lists, "dry": dry, "tree": snapshot(root)})
json.dump(found, sys.stdout)
`;

function withPython(cases: readonly Case[]): Outcome[] {
  const env = {
    ...{ PATH: process.env.PATH, PYTHONPATH: `${TESTS}:${pythonPath()}`, PADDOCK_PYTHON: resolve(TESTS, '..') },
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const input = JSON.stringify(cases);
  return JSON.parse(execFileSync(PYTHON, ['-c', SCRIPT], { env, input, encoding: 'utf8', maxBuffer: 2 ** 28 }));
}

async function withTypeScript(given: Case): Promise<Outcome & { before: Record<string, string> }> {
  const above = mkdtempSync(join(tmpdir(), 'paddock-random-'));
  try {
    const root = join(above, 'home');
    mkdirSync(root);
    put(root, given.base!);
    put(root, given.local!);
    const before = snapshot(root);
    const lists = async (dryRun: boolean) => {
      const { skipped, ...others } = await pulled(given, root, { dryRun });
      return { ...others, skipped: Object.keys(skipped) };
    };
    const dry = await lists(true);
    expect(snapshot(root)).toEqual(before);
    return { before, dry, lists: await lists(false), tree: snapshot(root) };
  } finally {
    rmSync(above, { recursive: true });
  }
}

const shown = (text: string | undefined) => (text === undefined ? 'directory' : `644 ${text}`);

/** A rename comes whole or not at all; what was edited here is never lost; the rest is as it is said. */
function check({ base, now, local, given }: Random, { lists, tree }: Outcome, before: Record<string, string>): void {
  expect(before).toEqual(Object.fromEntries([...local].map(([path, { text }]) => [path, shown(text)])));
  const done = new Set([...lists.applied, ...lists.unchanged]);
  const applied = new Set(lists.applied);
  const changed = Object.keys(given.sandbox).map((path) => path.replace(/\/$/, ''));
  const sandbox = (path: string) => (now.has(path) ? shown(now.get(path)!.text) : undefined);
  for (const path of changed) {
    if (done.has(path)) expect([path, tree[path]]).toEqual([path, sandbox(path)]);
  }
  for (const path of new Set([...Object.keys(before), ...Object.keys(tree), ...changed])) {
    if (applied.has(path)) continue;
    // Made for what is in it.
    const isMade = before[path] === undefined && lists.applied.some((each) => parents(each).includes(path));
    if (!isMade) expect([path, tree[path]]).toEqual([path, before[path]]);
  }
  if (given.options?.on_conflict !== 'replace') {
    for (const [path, { text }] of local) {
      if (text === undefined || base.get(path)?.text === text) continue;
      expect([path, tree[path]]).toEqual([path, shown(text)]);
    }
  }
  const renamed = Object.entries(given.renamed!);
  for (const [path, from] of renamed) {
    const left = changed.includes(from) && (!now.has(from) || given.renamed![from] !== undefined);
    const isDirectory = base.get(from)?.text === undefined;
    const others = renamed.filter(([, each]) => each === from).map(([each]) => each);
    if (applied.has(from) && (left || !isDirectory))
      expect([from, others.some((each) => done.has(each))]).toEqual([from, true]);
    if (!left && !isDirectory) continue;
    if (applied.has(path) && !isDirectory) expect([path, done.has(from)]).toEqual([path, true]);
    if (!isDirectory || !applied.has(path)) continue;
    const stays = [...lists.conflicts, ...lists.skipped];
    const rest = renamed.filter(([each, old]) => each.startsWith(`${path}/`) && old.startsWith(`${from}/`));
    // What is gone here already needs nothing.
    const halves = rest.filter(([each, old]) => stays.includes(each) && !lists.unchanged.includes(old));
    const olds = rest.filter(([, old]) => stays.includes(old) && base.get(old)?.text !== undefined);
    expect([...halves, ...olds]).toEqual([]);
  }
}

it(
  'random pulls bring renames whole, lose no edit, and are the same in both clients and as dry runs',
  async () => {
    const cases = fc.sample(random, { numRuns: RUNS, ...SEED });
    const others = withPython(cases.map(({ given }) => given));
    for (const [index, each] of cases.entries()) {
      const { before, ...found } = await withTypeScript(each.given);
      try {
        expect(others[index]).toEqual(found);
        expect(found.dry).toEqual(found.lists);
        check(each, found, before);
      } catch (error) {
        (error as Error).message += `\n${JSON.stringify({ ...each.given, found })}`;
        throw error;
      }
    }
  },
  RUNS * 1000,
);
