import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { PermissionRule, Sandbox } from '../../lib/contract/messages.ts';
import { emptyDirectory } from '../directory.ts';
import { collect } from './client.ts';
import { hide, read, write } from './rules.ts';
import { eventually, expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

const scratch = (pattern: string, priority = 0): PermissionRule => ({ ...write(pattern, priority), scratch: true });
const RULES = [write('**'), scratch('**/.cache/**'), scratch('out/**')];
const TREE = { a: 'a\n', 'src/x': 'x\n', 'out/old': 'o\n' };
const WORK =
  'echo A > a; mkdir -p .cache new/.cache; echo c > .cache/c; echo n > new/.cache/n; rm out/old; echo s > src/y; echo l > src/l.log';

const listed = async (scene: Scene, { id }: Sandbox, choice: object = {}) =>
  (await scene.client.call('ListChanges', { sandbox_id: id, ...choice })).changes.map(({ path }) => path);

const members = async (scene: Scene, { id }: Sandbox, choice: object = {}) =>
  execFileSync('tar', ['-t'], {
    input: await collect(scene.client.read('ExportChanges', { sandbox_id: id, format: 'tar', ...choice })),
  })
    .toString()
    .trim()
    .split('\n');

const ALL = ['.cache', '.cache/c', 'a', 'new', 'new/.cache', 'new/.cache/n', 'out/old', 'src/l.log', 'src/y'];

const directory = emptyDirectory();

const cases: Case[] = [
  {
    name: 'what is written at scratch paths is no change of lists, exports and commits, unless it is asked for',
    runtimes: ['bwrap'],
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase, RULES);
      expect(sandbox.permissions).toMatchObject(RULES);
      await scene.output(sandbox, WORK);
      expect(await listed(scene, sandbox)).toEqual(['a', 'src/l.log', 'src/y']);
      expect(await members(scene, sandbox)).toEqual(['a', 'src/l.log', 'src/y']);
      expect(await listed(scene, sandbox, { include_scratch: true })).toEqual(ALL);
      expect(await listed(scene, sandbox, { paths: ['src', 'a'], exclude: ['**/*.log'] })).toEqual(['a', 'src/y']);
      expect(await members(scene, sandbox, { paths: ['src'], exclude: ['src/y'] })).toEqual(['src/l.log']);
      const patch = await collect(
        scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'patch', exclude: ['src'] }),
      );
      expect(patch.toString().match(/^diff .*/gm)).toEqual(['diff --git a/a b/a']);
      const { changes, count } = await scene.client.call('Commit', { sandbox_id: sandbox.id, exclude: ['**/*.log'] });
      expect({ count, paths: changes.map(({ path }) => path) }).toEqual({ count: 2, paths: ['a', 'src/y'] });
      expect(await listed(scene, sandbox)).toEqual(['src/l.log']);
      expect(await scene.output(sandbox, 'cat .cache/c new/.cache/n; ls out')).toBe('c\nn\n');
      expect(await scene.content(codebase, 'out/old')).toBe('o\n');
      await scene.client.call('Discard', { sandbox_id: sandbox.id });
      expect(await listed(scene, sandbox, { include_scratch: true })).toEqual([
        '.cache',
        '.cache/c',
        'new',
        'new/.cache',
        'new/.cache/n',
        'out/old',
      ]);
      await scene.client.call('Commit', { sandbox_id: sandbox.id, include_scratch: true });
      expect(await scene.content(codebase, 'new/.cache/n')).toBe('n\n');
      await scene.output(sandbox, 'echo again > .cache/c');
      await scene.client.call('Discard', { sandbox_id: sandbox.id, include_scratch: true });
      expect(await scene.output(sandbox, 'cat .cache/c')).toBe('c\n');
    },
  },
  {
    name: 'scratch is kept by stops, checkpoints and forks, and automatic commits leave it out',
    runtimes: ['bwrap'],
    protocols: ['rest'],
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase, RULES, { auto_commit: 'on_exec' });
      await scene.output(sandbox, 'mkdir .cache; echo c > .cache/c; echo A > a');
      expect(await scene.content(codebase, 'a')).toBe('A\n');
      await expectRefusal(scene.content(codebase, '.cache/c'), 'NOT_FOUND');
      await scene.client.call('CreateCheckpoint', { sandbox_id: sandbox.id, name: 'one' });
      await scene.output(sandbox, 'rm -r .cache');
      await scene.client.call('Rollback', { sandbox_id: sandbox.id, checkpoint: 'one' });
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      const [fork] = (await scene.client.call('Fork', { sandbox_id: sandbox.id })).results;
      scene.owns(fork!.sandbox!);
      expect(await scene.output(fork!.sandbox!, 'cat .cache/c')).toBe('c\n');
      const { winner, reason } = await scene.client.call('ExplainPermission', {
        sandbox_id: sandbox.id,
        path: '.cache/c',
      });
      expect(winner).toMatchObject({ index: 1, rule: { scratch: true } });
      expect(reason).toContain('permissions[1] (glob "**/.cache/**", write, priority 0, scratch)');
    },
  },
  {
    name: 'the patch of a repository in which git was used applies with git apply',
    runtimes: ['bwrap'],
    protocols: ['grpc'],
    async run(scene) {
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: directory }).toString();
      git('init', '-q');
      writeFileSync(join(directory, 'a'), 'a\n');
      git('add', '.');
      git('commit', '-qm', 'one');
      const sandbox = await scene.sandboxOn({}, [write('**'), scratch('**/dist/**')]);
      await scene.client.write(
        'ImportFiles',
        { sandbox_id: sandbox.id, as: 'owner' },
        execFileSync('tar', ['-c', '.'], { cwd: directory }),
      );
      await scene.client.call('Commit', { sandbox_id: sandbox.id });
      await scene.output(
        sandbox,
        "echo A > a; git -c safe.directory='*' status; git -c safe.directory='*' add a; git -c safe.directory='*' branch dist",
      );
      expect(await listed(scene, sandbox)).toEqual(expect.arrayContaining(['.git/index', '.git/refs/heads/dist']));
      const patch = await collect(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'patch' }));
      execFileSync('git', ['apply'], { cwd: directory, input: patch });
      expect(git('diff', '--stat')).toContain('1 file changed');
    },
  },
  {
    name: 'rules in the short form are those of its lists, for a new sandbox and for new rules',
    runtimes: ['mock'],
    async run(scene) {
      const codebase = await scene.codebase({});
      const rules = { write: ['src'], read: ['**'], none: ['.env*'], scratch: ['.cache'] };
      const sandbox = await scene.sandbox(codebase, [], { rules });
      const patterns = ['.env*', '**', '.cache', 'src'];
      expect(sandbox.permissions.map(({ pattern }) => pattern)).toEqual(patterns);
      expect(sandbox.permissions[2]).toMatchObject({
        permission: 'PERMISSION_WRITE',
        type: 'PATTERN_DIRECTORY',
        scratch: true,
      });
      const sandbox_id = sandbox.id;
      const changed = await scene.client.call('UpdatePermissions', {
        sandbox_id,
        preset: 'read-only',
        rules: { view: ['a'] },
      });
      expect(changed.permissions.map(({ pattern }) => pattern)).toEqual(['/**', 'a']);
      const both = { sandbox_id, permissions: [write('**')], rules };
      await expectRefusal(
        scene.client.call('UpdatePermissions', both),
        'INVALID_ARGUMENT',
        /^rules must be empty with permissions/,
      );
      const twice = { sandbox_id, rules: { write: ['a'], none: ['a'] } };
      await expectRefusal(
        scene.client.call('UpdatePermissions', twice),
        'INVALID_ARGUMENT',
        /^rules\.write\[0\] "a" is also in rules\.none/,
      );
    },
  },
  {
    name: 'rules that cannot be meant are told by a create, new rules and a fork, and by nothing else',
    runtimes: ['mock', 'bwrap'],
    async run(scene) {
      const codebase = await scene.codebase({ 'src/a': 'a', '.env': 'TOKEN=x' });
      const permissions = [read('**'), write('scr/**')];
      const expected = [
        { code: 'readable_secret', rule: 0, path: '.env' },
        { code: 'matches_nothing', rule: 1, path: '' },
      ];
      const sandbox = await eventually('warnings', async () => {
        const made = await scene.sandbox(codebase, permissions);
        // The first look at a codebase may take longer than an answer waits for it.
        return made.warnings.some(({ code }) => code === 'incomplete') ? undefined : made;
      });
      expect(sandbox.warnings).toMatchObject(expected);
      const sandbox_id = sandbox.id;
      expect((await scene.client.call('GetSandbox', { sandbox_id })).warnings).toEqual([]);
      const changed = await scene.client.call('UpdatePermissions', { sandbox_id, permissions: [] });
      expect(changed.warnings).toMatchObject([{ code: 'no_rules', rule: -1 }]);
      if (scene.runtime === 'mock') return;
      const { results } = await scene.client.call('Fork', { sandbox_id, permissions });
      scene.owns(results[0]!.sandbox!);
      expect(results[0]!.sandbox!.warnings).toMatchObject(expected);
    },
  },
  {
    name: 'scratch of a rule that does not grant writing, and bad selections, are refused',
    runtimes: ['bwrap'],
    async run(scene) {
      const codebase = await scene.codebase({});
      for (const rule of [read('a'), hide('a')]) {
        const create = scene.sandbox(codebase, [write('**'), { ...rule, scratch: true }]);
        await expectRefusal(create, 'INVALID_ARGUMENT', 'permissions[1].scratch must be false with permission ');
      }
      const sandbox = await scene.sandbox(codebase);
      await expectRefusal(
        listed(scene, sandbox, { exclude: ['a', '[b'] }),
        'INVALID_ARGUMENT',
        'exclude[1] "[b" has an unclosed',
      );
      await expectRefusal(listed(scene, sandbox, { paths: ['../a'] }), 'INVALID_ARGUMENT', /^paths\[0\] must not have/);
    },
  },
];

contract('scratch', cases);
