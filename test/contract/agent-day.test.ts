import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import type { Codebase, Sandbox } from '../../lib/contract/messages.ts';
import { emptyDirectory, putAll } from '../directory.ts';
import { collect } from './client.ts';
import { EVERYTHING } from './rules.ts';
import type { Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

const REPOSITORY = {
  'package.json': '{"name": "sums", "type": "module", "private": true}\n',
  'tsconfig.json':
    '{"compilerOptions": {"strict": true, "module": "nodenext", "target": "es2022", "types": [], "incremental": true, "outDir": "dist", "skipLibCheck": true, "allowImportingTsExtensions": true, "rewriteRelativeImportExtensions": true}, "include": ["src/sum.ts"]}\n',
  'vitest.config.ts':
    "import { defineConfig } from 'vitest/config';\nexport default defineConfig({ test: { watch: false } });\n",
  'src/sum.ts': 'export const sum = (a: number, b: number): number => a - b;\n',
  'src/sum.test.ts':
    "import { expect, it } from 'vitest';\nimport { sum } from './sum.ts';\nit('adds', () => expect(sum(1, 2)).toBe(3));\n",
  'src/calc.py': 'def double(n):\n    return n + n + 1\n',
  'src/test_calc.py': 'from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n',
  '.env': 'TOKEN=secret\n',
  '.gitignore': 'node_modules\n',
  'README.md': 'Sums\n',
};

/** Packages of this project that a package needs, with itself. */
function closureOf(name: string, found = new Set<string>()): Set<string> {
  const path = `node_modules/${name}/package.json`;
  if (found.has(name) || !existsSync(path)) return found;
  found.add(name);
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(path, 'utf8'));
  for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) closureOf(each, found);
  return found;
}

const directory = emptyDirectory();

function git(args: string[], input?: Uint8Array): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  return execFileSync('git', [...identity, ...args], { cwd: directory, input, stdio: 'pipe' }).toString();
}

/** The repository with the packages that its tests need, as one archive. */
function repository(): Buffer {
  const packages = [...closureOf('vitest'), ...closureOf('typescript')].map((name) => `node_modules/${name}`);
  const list = ['-C', directory, '.', '-C', resolve('.'), ...packages];
  return execFileSync('tar', ['-cf', '-', '--owner=0', '--group=0', ...list], { maxBuffer: 1 << 30 });
}

const GIT = "git -c safe.directory='*'";

/** The recipe of docs/git.md. */
const SKIP_UNREADABLE = `${GIT} ls-files -z --modified --deleted |
  xargs -0 sh -c 'for file; do [ -L "$file" ] || { [ -r "$file" ] && ! grep -qE "pdk[a-z2-7]{24}|^# hidden$" "$file"; } || printf "%s\\0" "$file"; done' - |
  ${GIT} update-index --skip-worktree -z --stdin`;

const CHECKS = [
  ['vitest', 'node node_modules/vitest/vitest.mjs run'],
  ['tsc', 'node node_modules/typescript/bin/tsc'],
  ['pytest', 'pytest-3 -q src'],
] as const;

/** The exit codes of the checks that the repository has. */
async function checks(scene: Scene, sandbox: Sandbox): Promise<Record<string, number>> {
  const codes: Record<string, number> = {};
  for (const [name, command] of CHECKS) {
    const { exit_code, stdout, stderr } = await scene.run(sandbox, command, { timeout: 120 });
    codes[name] = exit_code;
    expect(`${stdout}${stderr}`).not.toMatch(/EACCES|Permission denied|read-only/i);
  }
  return codes;
}

/** A tracked file that can be listed, and not be read, is in the way of git until the recipe was run. */
async function commitsBesideListed(scene: Scene, codebase: Codebase): Promise<void> {
  const rules = { view: ['package.json'] };
  const developer = await scene.sandbox(codebase, [], { preset: 'development', rules });
  const add = `rm README.md; echo new > src/new; ${GIT} diff && ${GIT} add -A`;
  expect((await scene.run(developer, add)).stderr).toContain('package.json');
  await scene.output(developer, `${GIT} reset -q; ${GIT} checkout README.md; ${SKIP_UNREADABLE}`);
  await scene.output(developer, `${add} && ${GIT} commit -qm two`);
  const committed = await scene.output(
    developer,
    `${GIT} show --name-status --format= HEAD; ${GIT} status --porcelain`,
  );
  expect(committed).toBe('D\tREADME.md\nA\tsrc/new\n');
}

const cases: Case[] = [
  {
    name: 'an agent may write src only: vitest, tsc, pytest and git work, and its patch applies',
    runtimes: ['bwrap'],
    protocols: ['rest'],
    timeoutMs: 300_000,
    async run(scene) {
      putAll(directory, REPOSITORY);
      git(['init', '-q']);
      git(['add', '.']);
      git(['commit', '-qm', 'one']);
      const codebase = await scene.codebase();
      const builder = await scene.sandbox(codebase, EVERYTHING);
      await scene.client.write('ImportFiles', { sandbox_id: builder.id, as: 'owner' }, repository());
      await scene.client.call('Commit', { sandbox_id: builder.id });
      const agent = await scene.sandbox(codebase, [], { preset: 'agent-safe', rules: { write: ['src'] } });

      await commitsBesideListed(scene, codebase);
      expect(await scene.output(agent, `${GIT} status --porcelain`)).toBe(' M .env\n');
      await scene.output(agent, SKIP_UNREADABLE);
      expect(await scene.output(agent, `${GIT} status --porcelain`)).toBe('');
      // docs/git.md says so.
      expect(await scene.output(agent, `${GIT} show HEAD:.env`)).toBe('TOKEN=secret\n');

      expect((await scene.run(agent, 'pytest-3 -q src')).exit_code).toBe(1);
      await scene.output(agent, "sed -i 's/a - b/a + b/' src/sum.ts; sed -i 's/ + 1$//' src/calc.py");
      expect(await checks(scene, agent)).toEqual({ vitest: 0, tsc: 0, pytest: 0 });
      expect((await scene.run(agent, 'echo x >> README.md')).exit_code).not.toBe(0);
      expect(await scene.output(agent, `${GIT} status --porcelain -- src README.md .env`)).toMatch(
        /^ M src\/calc\.py\n M src\/sum\.ts\n/,
      );

      const { changes } = await scene.client.call('ListChanges', { sandbox_id: agent.id });
      expect(changes.map(({ path }) => path)).toEqual(['src/calc.py', 'src/sum.ts']);
      git(['apply'], await collect(scene.client.read('ExportChanges', { sandbox_id: agent.id, format: 'patch' })));
      expect(git(['status', '--porcelain'])).toBe(' M src/calc.py\n M src/sum.ts\n');
      expect(readFileSync(join(directory, 'src/sum.ts'), 'utf8')).toContain('a + b');
    },
  },
];

contract('an agent’s day', cases);
