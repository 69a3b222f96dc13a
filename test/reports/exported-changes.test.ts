import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../clients/typescript/src/index.ts';
import { runCli } from '../clients/cli/run-cli.ts';
import { PYTHON, pythonPath } from '../clients/python-packages.ts';
import { servedOnce } from '../clients/typescript/served.ts';
import { actLocally, type Entry, PROGRAM, randomSteps, type Steps, shownAs } from './random-changes.ts';

const RUNS = Number(process.env.PADDOCK_MODEL_RUNS ?? 8);
/** Of a model: most of its time is that of the programs that it starts. */
const MODEL_MS = Math.max(120_000, RUNS * 20_000);
const SEED = process.env.PADDOCK_MODEL_SEED === undefined ? {} : { seed: Number(process.env.PADDOCK_MODEL_SEED) };

const served = servedOnce();
interface Made {
  sandbox: Sandbox;
  /** For files of the test. */
  directory: string;
  /** A directory in it with the codebase's tree. */
  base: string;
  /** What the sandbox has after its changes. */
  now: Entry[];
}

/** Makes a tree, uploads it, changes it in a sandbox, and hands both to `then`. */
async function changed(first: Steps, then: Steps, use: (made: Made) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'paddock-exported-'));
  try {
    const base = join(directory, 'base');
    mkdirSync(base);
    actLocally(base, first);
    const archive = execFileSync('tar', ['-c', '--hard-dereference', '-C', base, '.']);
    const sandbox = await served.paddock().sandboxes.create({ from: new Blob([archive]), preset: 'full-access' });
    try {
      await use({ sandbox, directory, base, now: await act(sandbox, then) });
    } finally {
      await sandbox.destroy();
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function act(sandbox: Sandbox, steps: Steps = []): Promise<Entry[]> {
  const { stdout } = await sandbox.run(['python3', '-c', PROGRAM], { stdin: JSON.stringify(steps), check: true });
  return JSON.parse(stdout);
}

const bytesOf = async (stream: Promise<Response>) => Buffer.from(await (await stream).arrayBuffer());
const exported = (sandbox: Sandbox, format: string) =>
  bytesOf(sandbox.api.exportChanges({ sandboxId: sandbox.id, format }, {}) as Promise<Response>);

/** Paths that git has in no patch: what means `.git` in some file system, and symlinks as `.gitmodules`. */
const isRefused = (path: string, type: string) =>
  path.split(/[/\\]/).some((name) => /^(\.git|git~1)[. ]*(:.*)?$/is.test(name)) ||
  (type === 'symlink' && /(^|[/\\])\.gitmodules$/i.test(path));

/** Git has files with one bit of the mode, and symlinks. */
function asGit(entries: readonly Entry[], except: ReadonlySet<string>): string[] {
  return shownAs(entries, ([hex, type, mode, content], path) => {
    if (except.has(hex) || isRefused(path, type) || type === 'directory' || type === 'other') return undefined;
    return type === 'file' ? `${mode & 0o100 ? '100755' : '100644'} ${content}` : `120000 ${content}`;
  });
}

const GIT_ENV = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
const git = (cwd: string, args: string[], input?: Buffer) =>
  execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@x', ...args], {
    ...{ cwd, input: input ?? '', env: GIT_ENV, stdio: ['pipe', 'pipe', 'pipe'], encoding: 'utf8' },
  });

/** A copy of the tree, without what git cannot have. */
function copyForGit(base: string, to: string): string {
  execFileSync('cp', ['-a', base, to]);
  for (const [hex, type] of actLocally(to)) {
    const path = Buffer.from(hex, 'hex');
    const full = Buffer.concat([Buffer.from(`${to}/`), path]);
    if (isRefused(path.toString('latin1'), type)) rmSync(full as never, { recursive: true, force: true });
  }
  execFileSync('find', [to, '-mindepth', '1', '-type', 'd', '-empty', '-delete']);
  return to;
}

/** Applies the patch with git, in a directory and in a repository. */
async function expectApplied({ sandbox, directory, base, now }: Made): Promise<void> {
  const links = [...actLocally(base), ...now].filter(([, type]) => type === 'symlink');
  const ofGit = links.filter(([hex]) => /\.gitmodules$/i.test(Buffer.from(hex, 'hex').toString()));
  const except = new Set(ofGit.map(([hex]) => hex));
  const patch = await exported(sandbox, 'patch');
  const plain = copyForGit(base, join(directory, 'plain'));
  const repository = copyForGit(base, join(directory, 'repository'));
  git(repository, ['init', '-q']);
  git(repository, ['add', '-A', '-f']);
  git(repository, ['commit', '-q', '--allow-empty', '-m', 'base']);
  if (patch.length > 0) {
    git(plain, ['apply', '--check', '-'], patch);
    git(plain, ['apply', '-'], patch);
    git(repository, ['apply', '--index', '-'], patch);
  }
  expect(asGit(actLocally(plain), except)).toEqual(asGit(now, except));
  expect(git(repository, ['diff'])).toBe('');
  rmSync(join(repository, '.git'), { recursive: true });
  expect(asGit(actLocally(repository), except)).toEqual(asGit(now, except));
}

const hex = (text: string) => Buffer.from(text).toString('hex');
const chmod = (path: string, mode: number) => ['chmod', hex(path), '', '', mode] as const;
const write = (path: string, content: string) => ['write', hex(path), '', hex(content), 0] as const;

const entries = [
  { notUtf8: true, special: true },
  { notUtf8: false, special: true },
] as const;
const random = ({ notUtf8, special }: (typeof entries)[number]) =>
  [randomSteps(25, { notUtf8, special: false }), randomSteps(25, { notUtf8, special })] as const;

describe('an exported patch', () => {
  it.each([
    ['no mode that git cannot express', [chmod('a', 0o664)], ''],
    [
      'the mode of its own file only',
      [chmod('a', 0o664), chmod('b', 0o755)],
      'diff --git a/b b/b\nold mode 100644\nnew mode 100755\n',
    ],
    [
      'the contents beside such a mode',
      [chmod('a', 0o664), write('b', 'two\n')],
      'diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1,1 +1,1 @@\n-one\n+two\n',
    ],
    ['no binary contents that are the same', [chmod('binary', 0o600)], ''],
  ])('has %s', async (_what, steps, patch) => {
    await changed([write('a', 'one\n'), write('b', 'one\n'), write('binary', '\0')], steps, async (made) => {
      expect((await exported(made.sandbox, 'patch')).toString()).toBe(patch);
      await expectApplied(made);
    });
  });

  it('leaves out paths that git refuses, so that git applies the others', async () => {
    const refused = ['.git/HEAD', 'd/.GIT/x', 'git~1', '.git. /x', '.git::$DATA', 'a\\.git'].map((path) =>
      write(path, 'x'),
    );
    const link = ['symlink', hex('d/.gitmodules'), hex('x'), '', 0] as const;
    await changed([], [...refused, link, write('.gitmodules', ''), write('git~2', 'x')], async (made) => {
      const names = /^diff --git a\/(.*) b\//gm;
      const found = [...(await exported(made.sandbox, 'patch')).toString().matchAll(names)].map(([, name]) => name);
      expect(found).toEqual(['.gitmodules', 'git~2']);
      await expectApplied(made);
    });
  });

  it(
    'of random changes makes the same tree with git apply',
    async () => {
      const property = fc.asyncProperty(...random(entries[0]), (first, then) => changed(first, then, expectApplied));
      await fc.assert(property, { numRuns: RUNS, ...SEED });
    },
    MODEL_MS,
  );
});

/** Files and symlinks, and directories with their modes or without. */
const asTar = (all: readonly Entry[], withDirectoryModes = true) =>
  shownAs(all, ([, type, mode, content]) => {
    if (type === 'other') return undefined;
    if (type === 'symlink') return `${type} ${content}`;
    return type === 'directory' && !withDirectoryModes ? type : `${type} ${mode.toString(8)} ${content}`;
  });

it(
  'an exported tar of random changes makes the same tree with tar and in another sandbox',
  async () => {
    const property = fc.asyncProperty(...random(entries[1]), (first, then) =>
      changed(first, then, async ({ sandbox, base, now }) => {
        const archive = await exported(sandbox, 'tar');
        const changes = await sandbox.changes();
        const gone = changes.filter(({ kind, type, baseType }) => kind === 'deleted' || type !== baseType);
        const deleted = gone.map(({ path }) => ['rmtree', hex(path), '', '', 0] as const);
        actLocally(base, deleted);
        execFileSync('tar', ['-xpf', '-'], { cwd: base, input: archive });
        expect(asTar(actLocally(base))).toEqual(asTar(now));
        const other = await served
          .paddock()
          .sandboxes.create({ codebase: sandbox.info.codebaseId, preset: 'full-access' });
        try {
          await act(other, deleted);
          await other.files.upload(new Blob([archive]));
          // An existing directory keeps its mode.
          expect(asTar(await act(other), false)).toEqual(asTar(now, false));
        } finally {
          await other.destroy();
        }
      }),
    );
    await fc.assert(property, { numRuns: RUNS, ...SEED });
  },
  MODEL_MS,
);

/** What a client brings, or says that it has left out. */
async function expectBrought({ base, now }: Made, left: readonly string[]): Promise<void> {
  const isLeft = (path: string) =>
    left.some((each) => path === each || path.startsWith(`${each}/`) || each.startsWith(`${path}/`));
  const brought = (all: readonly Entry[]) =>
    shownAs(all, ([hexPath, type, mode, content], path) => {
      if (type === 'other' || isLeft(Buffer.from(hexPath, 'hex').toString()) || isRefused(path, '')) return undefined;
      return type === 'file' ? `${type} ${mode & 0o100} ${content}` : `${type} ${content}`;
    });
  expect(brought(actLocally(base))).toEqual(brought(now));
}

/** Nothing is edited here: what does not come is left out, or comes only together with that. */
function expectHeld(conflicts: readonly string[], left: readonly string[]): void {
  if (left.length === 0) expect(conflicts).toEqual([]);
}

describe('random changes that are pulled', () => {
  const pulled = (pull: (made: Made) => Promise<readonly string[]>) =>
    fc.assert(
      fc.asyncProperty(...random(entries[1]), (first, then) =>
        changed(first, then, async (made) => expectBrought(made, await pull(made))),
      ),
      { numRuns: RUNS, ...SEED },
    );

  it(
    'make the same tree with the TypeScript client',
    async () => {
      await pulled(async ({ sandbox, base }) => {
        const { conflicts, skipped, failed } = await sandbox.pull(base);
        const left = skipped.map(({ path }) => path);
        expectHeld(conflicts, left);
        expect(failed).toEqual([]);
        return [...left, ...conflicts];
      });
    },
    MODEL_MS,
  );

  it(
    'make the same tree with the Python client',
    async () => {
      const script = `
import json, sys
from paddock_sandbox import Sandbox
result = Sandbox.connect(sys.argv[1]).pull(sys.argv[2])
json.dump([result.conflicts, list(result.skipped)], sys.stdout)`;
      await pulled(async ({ sandbox, base }) => {
        const env = {
          PATH: process.env.PATH,
          PYTHONPATH: pythonPath(),
          PYTHONDONTWRITEBYTECODE: '1',
          PADDOCK_URL: served.url,
        };
        const output = execFileSync(PYTHON, ['-c', script, sandbox.id, base], { env, encoding: 'utf8' });
        const [conflicts, skipped] = JSON.parse(output) as [string[], string[]];
        expectHeld(conflicts, skipped);
        return [...skipped, ...conflicts];
      });
    },
    MODEL_MS,
  );
});

it(
  'random trees that are copied with the command line are the same, but for what it names as left out',
  async () => {
    const property = fc.asyncProperty(...random(entries[1]), (first, then) =>
      changed(first, then, async ({ sandbox, directory, now }) => {
        const to = join(directory, 'copied');
        mkdirSync(to);
        const run = await runCli(['cp', '--json', `${sandbox.id}:.`, to], { url: served.url });
        expect([run.exitCode, run.stderr]).toEqual([0, expect.any(String)]);
        const { leftOut = [] } = JSON.parse(run.stdout.toString()) as { leftOut?: { path: string }[] };
        const left = new Set(leftOut.map(({ path }) => path));
        const came = now.filter(([path]) => !left.has(Buffer.from(path, 'hex').toString()));
        expect(asTar(actLocally(to))).toEqual(asTar(came));
        expect(came.filter(([, type]) => type === 'other')).toEqual([]);
      }),
    );
    await fc.assert(property, { numRuns: RUNS, ...SEED });
  },
  MODEL_MS,
);
