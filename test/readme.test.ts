import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PYTHON, pythonPath } from './clients/python-packages.ts';
import { connectStdio } from './contract/mcp-clients.ts';

const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** Stands for the program of a client of MCP: keeps the command that it is given. */
const CLAUDE = '#!/bin/sh\n[ "$1 $2 $3 $4" = "mcp add paddock --" ] && shift 4 && echo "$@" > "$HOME/added"\n';

let home: string;
let project: string;
let environment: NodeJS.ProcessEnv;
let blocks: { language: string; code: string }[];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'paddock-readme-'));
  project = join(home, 'my-project');
  for (const each of ['docs', 'metadata', 'secrets']) await mkdir(join(project, each), { recursive: true });
  await writeFile(join(project, 'docs/guide.md'), 'guide\n');
  await writeFile(join(project, 'metadata/owner'), 'me\n');
  await writeFile(join(project, 'secrets/key'), 'key\n');
  const docs = 'echo new > docs/new.md; cat metadata/owner; ls secrets; echo x >> package.json';
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'mine', scripts: { docs, test: 'echo tested' } }),
  );
  await mkdir(join(home, 'programs'));
  await writeFile(join(home, 'programs/claude'), CLAUDE, { mode: 0o755 });
  environment = {
    HOME: home,
    PADDOCK_LOCAL_STATE: join(home, 'local'),
    npm_config_prefix: join(home, 'prefix'),
    PATH: `${home}/prefix/bin:${home}/programs:${process.env.PATH}`,
  };
  const text = await readFile(join(ROOT, 'README.md'), 'utf8');
  blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', code = '']) => ({
    language,
    code,
  }));
});

afterAll(async () => {
  await run('paddock', ['server', 'stop'], { env: environment }).catch(() => {});
  await rm(home, { recursive: true });
});

/** Runs a script like a person who types its lines. */
async function sh(script: string, cwd = project): Promise<{ code: number; output: string }> {
  const ended = await run('bash', ['-c', `exec 2>&1 </dev/null; ${script}`], { cwd, env: environment }).catch(
    (error) => error,
  );
  return { code: ended.code ?? 0, output: ended.stdout };
}

/** The only block of a language that contains a text. */
function block(language: string, part: string): string {
  const found = blocks.filter(({ language: of, code }) => of === language && code.includes(part));
  expect(found.length, part).toBe(1);
  blocks.splice(blocks.indexOf(found[0]!), 1);
  return found[0]!.code;
}

it('each command and program of README.md does what it says', async () => {
  // `npm run setup` has run: it is the first step of `npm test`.
  const install = block('sh', 'npm link');
  expect(install).toContain('npm run setup\n');
  expect(await sh(install.replace('npm run setup\n', ''), ROOT)).toMatchObject({ code: 0 });

  const rules = await sh(block('sh', 'npm run docs').replace(' -- ', ' --apply all -- '));
  expect(rules.output).toMatch(/started one/);
  expect(rules.output).toMatch(
    /metadata\/owner: Permission denied[\s\S]*'secrets': No such file[\s\S]*package.json: Permission denied/,
  );
  expect(rules.output).toMatch(/\+new\n1 change applied\n.*3 paths were refused by the rules: .*\n$/);
  expect(await readFile(join(project, 'docs/new.md'), 'utf8')).toBe('new\n');
  await rm(join(project, 'docs/new.md'));

  const own = await sh(block('sh', 'cd ~/my-project'));
  expect(own.output).toMatch(
    /tested\n[\s\S]*package.json: Permission denied[\s\S]*1 change applied\n.*refused by the rules: package.json \(read \/\*\*\).*\n$/,
  );

  expect(await sh(block('sh', 'claude'))).toMatchObject({ code: 0 });
  const [program, ...args] = (await readFile(join(home, 'added'), 'utf8')).trim().split(' ');
  expect(program).toBe('paddock');
  const from = args.map((each) => (each === '.' ? project : each));
  const bundle = join(ROOT, 'dist/paddock.mjs');
  const client = await connectStdio('2025-11-25, old client', [bundle, ...from], environment as never);
  const answer = await client.call('exec', { command: 'cat docs/guide.md; touch x' });
  expect(JSON.stringify(answer)).toMatch(/guide\\n[\s\S]*touch: cannot touch 'x': Permission denied/);
  await client.close();

  const variables = block('sh', 'server env');
  const { outputFiles } = await build({
    stdin: { contents: block('ts', 'await using'), loader: 'ts', resolveDir: project },
    alias: { 'paddock-sandbox': join(ROOT, 'clients/typescript/src/index.ts') },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  await writeFile(join(home, 'agent.mjs'), outputFiles[0]!.text);
  const typescript = await sh(`${variables}\nnode ${home}/agent.mjs`);
  expect(typescript.output).toMatch(/tested\n[\s\S]*\+exit code 0\n/);
  expect(await readFile(join(project, 'docs/result.txt'), 'utf8')).toBe('exit code 0\n');
  await rm(join(project, 'docs/result.txt'));

  await writeFile(join(home, 'agent.py'), block('python', 'import Sandbox'));
  const python = await sh(`${variables}\nPYTHONPATH=${pythonPath()} ${PYTHON} ${home}/agent.py`);
  expect(python.output).toMatch(/^0 [\s\S]*tested\n[\s\S]*\+exit code 0\n/);
  expect(await readFile(join(project, 'docs/result.txt'), 'utf8')).toBe('exit code 0\n');

  // Steps of CI.
  const ci = await readFile(join(ROOT, '.ci/run'), 'utf8');
  for (const step of ['npm run demo', 'npm test']) expect(ci).toContain(block('sh', step).trim());
  expect(blocks).toEqual([]);
});
