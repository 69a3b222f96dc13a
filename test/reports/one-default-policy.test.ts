import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sandboxes } from '../../adapters/mcp/tools/sandboxes.ts';
import { ruleOptionsOf } from '../../clients/cli/src/options/sandbox.ts';
import type { Api } from '../../clients/typescript/src/api.ts';
import { createSandbox } from '../../clients/typescript/src/create.ts';
import { presetOf, type RuleOptions } from '../../clients/typescript/src/rules.ts';
import { PYTHON, pythonPath } from '../clients/python-packages.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-policy-'));
  await writeFile(join(directory, '.env'), 'SECRET=1\n');
  await writeFile(join(directory, 'a'), 'a\n');
});
afterEach(() => rm(directory, { recursive: true }));

const COMMAND = 'ls -A; { echo x > a; } 2>/dev/null && echo written';

async function inTypeScript(options: object): Promise<string> {
  await using sandbox = await served.paddock().sandboxes.create({ from: directory, ...options });
  return (await sandbox.run(COMMAND)).stdout;
}

async function python(script: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    PYTHONPATH: pythonPath(),
    PYTHONDONTWRITEBYTECODE: '1',
    PADDOCK_URL: served.url,
  };
  return (await promisify(execFile)(PYTHON, ['-c', script, ...args], { env })).stdout;
}

async function inPython(options: object): Promise<string> {
  const script = `import json, sys
from paddock_sandbox import Sandbox
with Sandbox.create(sys.argv[1], **json.loads(sys.argv[2])) as sandbox:
    print(sandbox.run(sys.argv[3]).stdout, end="")`;
  return python(script, directory, JSON.stringify(options), COMMAND);
}

it.each([
  ['no rules', {}, '.env\na\nwritten\n'],
  ['rules that grant everything', { rules: { read: ['**'] } }, '.env\na\n'],
  ['rules of the long form', { permissions: [{ pattern: 'a', permission: 'write' }] }, '.env\na\nwritten\n'],
  ['rules alone', { preset: 'none', rules: { read: ['**'] } }, '.env\na\n'],
  ['a preset', { preset: 'full-access' }, '.env\na\nwritten\n'],
])('%s show the same files in both clients', async (_, options, shown) => {
  expect(await inPython(options)).toBe(shown);
  expect(await inTypeScript(options as RuleOptions)).toBe(shown);
});

it('rules that replace others keep secrets hidden, in a fork, too, as those of a new sandbox', async () => {
  const rules = { read: ['**'] };
  await using sandbox = await served.paddock().sandboxes.create({ from: directory });
  await using fork = await sandbox.fork({ rules });
  await sandbox.rules.set({ rules });
  for (const { id } of [sandbox, fork]) {
    const { permissions } = await served.paddock().api.getSandbox({ sandboxId: id });
    expect(permissions).toContainEqual(expect.objectContaining({ pattern: '**/.env*' }));
  }
  const script = `import json, sys
from paddock_sandbox import Sandbox
with Sandbox.create(sys.argv[1]) as sandbox, sandbox.fork(rules={"read": ["**"]}) as fork:
    sandbox.rules.set(rules={"read": ["**"]})
    print(json.dumps([[rule.pattern for rule in each.rules.get()] for each in (sandbox, fork)]))`;
  const patterns = JSON.parse(await python(script, directory)) as string[][];
  for (const each of patterns) expect(each).toContain('**/.env*');
});

it('a sandbox that was found, and not made, is left at the end of its block', async () => {
  await using sandbox = await served.paddock().sandboxes.create({ from: directory });
  {
    await using _found = await served.paddock().sandboxes.get(sandbox.id);
  }
  const script = `import sys
from paddock_sandbox import Sandbox
with Sandbox.connect(sys.argv[1]):
    pass`;
  await python(script, sandbox.id);
  expect((await sandbox.refresh()).status).toBe('running');
});

interface Case {
  options: RuleOptions;
  preset: string | null;
}
const SPEC = resolve(import.meta.dirname, '../../clients/spec/presets.json');
const { cases } = JSON.parse(readFileSync(SPEC, 'utf8')) as { cases: Case[] };

it.each(cases)('$options is sent with the preset $preset', async ({ options, preset }) => {
  const sent: unknown[] = [];
  const noted = async (...parts: object[]) => sent.push(Object.assign({}, ...parts));
  const api = { createSandbox: noted } as unknown as Api;
  await createSandbox(api, { ...options, codebase: 'cb_1' });
  expect((sent[0] as RuleOptions).preset ?? null).toBe(preset);
  if (options.permissions !== undefined) return;
  const rule = Object.entries(options.rules ?? {}).flatMap(([list, patterns = []]) =>
    patterns.map((pattern) => `${list}:${pattern}`),
  );
  expect(presetOf(ruleOptionsOf({ ...options, rule }).preset) ?? null).toBe(preset);
  const request = async (_: string, asked: object) => sent.push(asked);
  const tool = sandboxes.find(({ name }) => name === 'sandbox_create')!;
  await tool.run({ codebase_id: 'cb_1', ...options } as never, { caller: { request } } as never).catch(() => undefined);
  expect((sent[1] as { preset: string }).preset).toBe(preset ?? '');
});
