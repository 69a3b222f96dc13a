import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { ForkResult, Sandbox } from '../../lib/contract/messages.ts';
import { EVERYTHING, hide, read, write } from './rules.ts';
import { eventually, expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

const TREE = { a: 'one\n', b: 'b\n', 'd/x': 'x\n', 'd/sub/y': 'y\n' };
const LIST =
  'find . -mindepth 1 \\( -type d -printf "%p/ %m\\n" \\) -o \\( -type l -printf "%p -> %l\\n" \\) -o \\( -printf "%p %m %n " -exec sh -c \'sha1sum < "$1"\' - {} \\; \\) | sort';
/** Small and large files, new ones, changed ones, removed ones, renames, links. */
const WORK = [
  'echo two >> a; rm b; mv d e; echo z > e/sub/new; ln -s a link; ln a hard; : > nothing',
  'head -c 200000 /dev/zero > large; mkdir -p n/m; echo f > n/m/f; head -c 30000 /dev/urandom > n/middle',
].join('; ');

const checkpoint = (scene: Scene, { id }: Sandbox, name: string) =>
  scene.client.call('CreateCheckpoint', { sandbox_id: id, name });
const rollback = (scene: Scene, { id }: Sandbox, name: string) =>
  scene.client.call('Rollback', { sandbox_id: id, checkpoint: name });
const deleteCheckpoint = (scene: Scene, { id }: Sandbox, name: string) =>
  scene.client.call('DeleteCheckpoint', { sandbox_id: id, name });
const changed = async (scene: Scene, { id }: Sandbox) =>
  (await scene.client.call('ListChanges', { sandbox_id: id })).changes.map(({ path }) => path);

async function fork(scene: Scene, { id }: Sandbox, more: object = {}): Promise<Sandbox[]> {
  const { results } = await scene.client.call('Fork', { sandbox_id: id, ...more });
  return results.map(({ sandbox, error }: ForkResult) => {
    if (!sandbox) throw new Error(`a fork failed: ${JSON.stringify(error)}`);
    scene.owns(sandbox);
    return sandbox;
  });
}

const layers = (scene: Scene) => readdirSync(join(scene.state.directory, 'mounts/layers'));
const layersOf = (scene: Scene, { id }: Sandbox) => layers(scene).filter((name) => name.startsWith(`${id}.`));

async function diskOf(scene: Scene, sandbox: Sandbox): Promise<number> {
  const places = layersOf(scene, sandbox).map((name) => join(scene.state.directory, 'mounts/layers', name));
  // What is removed meanwhile takes nothing.
  const { stdout } = await promisify(execFile)('sh', ['-c', 'du -sc -B1 "$@" 2>/dev/null || :', 'sh', ...places]);
  return Number(stdout.trim().split('\n').at(-1)!.split('\t')[0]);
}

const cases: Case[] = [
  {
    name: "a fork has its parent's files, rules and limits, and both then diverge",
    async run(scene) {
      const rules = [...EVERYTHING, read('d/x', 1)];
      const resources = { memory_bytes: 2 ** 28, cpu_quota: 0, cpu_shares: 0, pids_limit: 77 };
      const parent = await scene.sandboxOn(TREE, rules, { labels: { team: 'a' }, resources, expires_in: 900 });
      await scene.output(parent, WORK.replace('mv d e; echo z > e/sub/new', 'echo z > d/sub/new'));
      const before = await scene.output(parent, LIST);
      const [one, two] = (await fork(scene, parent, { count: 2 })) as [Sandbox, Sandbox];
      // Warnings are those of each request, and may be incomplete.
      const { id: _id, created_at: created, expires_at: expires, warnings: _warnings, ...rest } = parent;
      expect(one).toMatchObject({ ...rest, status: 'SANDBOX_RUNNING' });
      expect(one.expires_at - one.created_at).toBe(expires - created);
      expect(new Set([parent.id, one.id, two.id]).size).toBe(3);
      for (const each of [one, two]) expect(await scene.output(each, LIST)).toBe(before);
      expect(await changed(scene, one)).toEqual(await changed(scene, parent));

      const changes: [Sandbox, string][] = [
        [parent, 'parent'],
        [one, 'one'],
        [two, 'two'],
      ];
      for (const [sandbox, name] of changes) {
        const work = `echo ${name} >> a; echo ${name} >> large; echo ${name} > n/middle; echo ${name} > ${name}; rm hard n/m/f`;
        await scene.output(sandbox, work);
      }
      for (const [sandbox, name] of changes) {
        expect(await scene.output(sandbox, 'cat a; tail -c +200001 large; cat n/middle; ls')).toBe(
          `one\ntwo\n${name}\n${name}\n${name}\n${['a', 'd', 'large', 'link', 'n', 'nothing', name].sort().join('\n')}\n`,
        );
      }
      expect((await scene.run(one, 'echo x > d/x')).exit_code).not.toBe(0);
    },
  },
  {
    name: 'a fork accepts its own rules, labels, limits and lifetime',
    async run(scene) {
      const parent = await scene.sandboxOn(TREE);
      await scene.output(parent, 'echo secret > b');
      const more = { permissions: [write('**'), hide('b', 1)], labels: { x: 'y' }, expires_in: 60 };
      const [child] = await fork(scene, parent, { ...more, resources: { pids_limit: 55 }, auto_commit: 'on_stop' });
      expect(child).toMatchObject({ labels: { x: 'y' }, auto_commit: 'on_stop', resources: { pids_limit: 55 } });
      expect(child!.expires_at - child!.created_at).toBe(60);
      expect(await scene.output(child!, 'ls')).toBe('a\nd\n');
    },
  },
  {
    name: 'a rollback to each checkpoint can be repeated',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      const states = [await scene.output(sandbox, LIST)];
      await checkpoint(scene, sandbox, 'empty');
      await scene.output(sandbox, WORK);
      states.push(await scene.output(sandbox, LIST));
      expect(await checkpoint(scene, sandbox, 'worked')).toMatchObject({ sandbox_id: sandbox.id, name: 'worked' });
      await scene.output(sandbox, 'rm -rf e n; echo other > d; echo three >> large; rm a link; mkdir a; echo back > b');
      states.push(await scene.output(sandbox, LIST));
      await checkpoint(scene, sandbox, 'later');
      const { checkpoints } = await scene.client.call('ListCheckpoints', { sandbox_id: sandbox.id });
      expect(checkpoints.map(({ name }) => name)).toEqual(['empty', 'worked', 'later']);
      expect(checkpoints[1]!.bytes).toBeGreaterThan(200_000);
      await scene.output(sandbox, 'echo lost > lost; rm -rf d');
      for (const index of [1, 0, 2, 1, 1, 0]) {
        const { name } = checkpoints[index]!;
        expect(await rollback(scene, sandbox, name)).toMatchObject({ id: sandbox.id, status: 'SANDBOX_RUNNING' });
        expect(await scene.output(sandbox, LIST)).toBe(states[index]);
        await scene.output(sandbox, 'echo junk > junk; rm -rf d e a; touch b');
      }
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await rollback(scene, sandbox, 'worked');
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, LIST)).toBe(states[1]);
    },
  },
  {
    name: 'a rollback shows at once each of many names whose absence programs have looked up',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'mkdir m; cd m; seq 400 | xargs touch');
      await checkpoint(scene, sandbox, 'c');
      const count = 'n=0; for i in $(seq 400); do [ -e m/$i ] && n=$((n + 1)); done; echo $n';
      expect(await scene.output(sandbox, `rm m/*; ${count}`)).toBe('0\n');
      await rollback(scene, sandbox, 'c');
      expect(await scene.output(sandbox, count)).toBe('400\n');
    },
  },
  {
    name: 'a program continues across a rollback: it reads the restored files, and removed ones are stale',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'echo first > f');
      await checkpoint(scene, sandbox, 'c');
      const reading = scene.output(
        sandbox,
        'echo second > f; echo new > new; exec 3<f 4<new; touch /tmp/open; while ! test -e /tmp/go; do sleep 0.02; done; cat <&3; cat <&4 2>&1 || echo stale; cat f; ls',
      );
      await scene.output(
        sandbox,
        'while ! test -e /tmp/open; do sleep 0.02; done; cat f new; ls missing 2>/dev/null || true',
      );
      await rollback(scene, sandbox, 'c');
      await scene.output(sandbox, 'touch /tmp/go');
      expect(await reading).toMatch(/^first\n.*Stale file handle\nstale\nfirst\na\nb\nd\nf\n$/);
    },
  },
  {
    name: 'each fork of a sandbox with a running writer has the state of one moment',
    async run(scene) {
      const parent = await scene.sandboxOn(TREE);
      // The second is never ahead of the first, and at most one behind.
      const writing = scene.output(
        parent,
        'i=0; until [ -e /tmp/stop ]; do i=$((i+1)); echo $i > first.new; mv first.new first; echo $i > second.new; mv second.new second; done',
        { timeout: 60 },
      );
      await eventually('it writes', async () => (await scene.run(parent, 'test -e second')).exit_code === 0);
      for (let round = 0; round < 3; round++) {
        const [child] = await fork(scene, parent);
        const [first, second] = (await scene.output(child!, 'cat first second')).split('\n').map(Number);
        expect([0, 1]).toContain(first! - second!);
        await scene.client.call('DestroySandbox', { sandbox_id: child!.id });
      }
      await scene.output(parent, 'touch /tmp/stop');
      await writing;
      const [first, second] = (await scene.output(parent, 'cat first second')).split('\n');
      expect(first).toBe(second);
    },
  },
  {
    name: 'forks, and forks of forks, keep their files without their parent; the last one leaves nothing on the disk',
    async run(scene) {
      const parent = await scene.sandboxOn(TREE);
      await scene.output(parent, WORK);
      const before = await scene.output(parent, LIST);
      const [child] = await fork(scene, parent);
      await scene.output(child!, 'echo child > child');
      const [grandchild] = await fork(scene, child!);
      for (const { id } of [parent, child!]) await scene.client.call('DestroySandbox', { sandbox_id: id });
      expect(await scene.output(grandchild!, 'cat child; rm child')).toBe('child\n');
      expect(await scene.output(grandchild!, LIST)).toBe(before);
      expect(layersOf(scene, parent)).toHaveLength(1);
      await scene.client.call('StopSandbox', { sandbox_id: grandchild!.id });
      await scene.client.call('StartSandbox', { sandbox_id: grandchild!.id });
      expect(await scene.output(grandchild!, LIST)).toBe(before);
      await scene.client.call('DestroySandbox', { sandbox_id: grandchild!.id });
      const all = [parent, child!, grandchild!];
      await eventually('the disk is free', async () => all.every((sandbox) => layersOf(scene, sandbox).length === 0));
    },
  },
  {
    name: 'a fork of a checkpoint has the state of the checkpoint, also if the sandbox is stopped',
    async run(scene) {
      const parent = await scene.sandboxOn(TREE);
      await scene.output(parent, 'echo then > a');
      await checkpoint(scene, parent, 'then');
      await scene.output(parent, 'echo now > a');
      await scene.client.call('StopSandbox', { sandbox_id: parent.id });
      const [old] = await fork(scene, parent, { checkpoint: 'then' });
      const [present] = await fork(scene, parent);
      expect(await scene.output(old!, 'cat a')).toBe('then\n');
      expect(await scene.output(present!, 'cat a')).toBe('now\n');
      await rollback(scene, parent, 'then');
      await deleteCheckpoint(scene, parent, 'then');
      expect(await scene.output(present!, 'cat a')).toBe('now\n');
      expect(await scene.output(old!, 'echo more >> a; cat a')).toBe('then\nmore\n');
    },
  },
  {
    name: 'deleting a checkpoint frees its disk space',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'head -c 3000000 /dev/zero > large; echo small > small');
      await checkpoint(scene, sandbox, 'first');
      await scene.output(sandbox, 'rm large small');
      await checkpoint(scene, sandbox, 'second');
      await rollback(scene, sandbox, 'first');
      await deleteCheckpoint(scene, sandbox, 'second');
      await eventually('the second is gone', async () => layersOf(scene, sandbox).length <= 2);
      expect(await scene.output(sandbox, 'cat small; wc -c < large')).toBe('small\n3000000\n');
      await scene.output(sandbox, 'head -c 12000000 /dev/zero > waste; rm large');
      await checkpoint(scene, sandbox, 'wasteful');
      await scene.output(sandbox, 'rm waste; head -c 3000000 /dev/zero > large');
      expect(await diskOf(scene, sandbox)).toBeGreaterThan(15_000_000);
      await deleteCheckpoint(scene, sandbox, 'wasteful');
      await deleteCheckpoint(scene, sandbox, 'first');
      await eventually('what nobody needs is gone', async () => (await diskOf(scene, sandbox)) < 7_000_000);
      expect((await scene.client.call('ListCheckpoints', { sandbox_id: sandbox.id })).checkpoints).toEqual([]);
      expect(await scene.output(sandbox, 'cat small; wc -c < large')).toBe('small\n3000000\n');
    },
  },
  {
    name: 'a write to a large file is visible in one fork only, from its first byte',
    async run(scene) {
      const parent = await scene.sandboxOn(TREE);
      await scene.output(parent, 'head -c 9000000 /dev/urandom > large; sha1sum < large > /dev/null');
      const sum = await scene.output(parent, 'sha1sum < large');
      const [one, two] = (await fork(scene, parent, { count: 2 })) as [Sandbox, Sandbox];
      const write = 'printf XYZ | dd of=large bs=1 seek=5000000 conv=notrunc 2>/dev/null';
      const results = await Promise.all(
        [one, parent].map((sandbox) => scene.output(sandbox, `${write}; sha1sum < large`)),
      );
      expect(results[0]).toBe(results[1]);
      expect(results[0]).not.toBe(sum);
      await scene.output(one, ': > large');
      expect(await scene.output(two, 'sha1sum < large')).toBe(sum);
      expect(await scene.output(parent, 'sha1sum < large')).toBe(results[0]);
    },
  },
  {
    name: 'a fork and a checkpoint contain pages that a running program has mapped and changed, and a rollback reverts them',
    async run(scene) {
      const parent = await scene.sandboxOn(TREE);
      await scene.output(parent, 'echo AAAA > f');
      await checkpoint(scene, parent, 'before');
      const program = [
        'import mmap, time, os',
        "f = open('f', 'r+b')",
        'm = mmap.mmap(f.fileno(), 4)',
        "m[0:4] = b'BBBB'",
        "open('/tmp/mapped', 'w')",
        "while not os.path.exists('/tmp/go'): time.sleep(0.02)",
        'print(m[0:4].decode())',
      ].join('\n');
      const running = scene.output(parent, 'python3 -', { stdin: program });
      await scene.output(parent, 'while ! test -e /tmp/mapped; do sleep 0.02; done');
      const [child] = await fork(scene, parent);
      expect(await scene.output(child!, 'cat f')).toBe('BBBB\n');
      await rollback(scene, parent, 'before');
      expect(await scene.output(parent, 'cat f; touch /tmp/go')).toBe('AAAA\n');
      expect(await running).toBe('AAAA\n');
      expect(await scene.output(child!, 'cat f')).toBe('BBBB\n');
    },
  },
  {
    name: 'the second commit of two forks that changed the same file conflicts',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const parent = await scene.sandbox(codebase);
      await scene.output(parent, 'echo parent > a; echo parent > new');
      const [one, two] = await fork(scene, parent, { count: 2 });
      await scene.output(one!, 'echo first > a');
      await scene.output(two!, 'echo two > a; echo two > d/x');
      await scene.client.call('Commit', { sandbox_id: one!.id });
      const refused = await expectRefusal(scene.client.call('Commit', { sandbox_id: two!.id }), 'ABORTED');
      expect(refused.details).toEqual([{ conflicts: ['a'] }]);
      await scene.client.call('Commit', { sandbox_id: two!.id, on_conflict: 'ours' });
      expect(await scene.content(codebase, 'a')).toBe('two\n');
      expect(await scene.content(codebase, 'new')).toBe('parent\n');
      expect(await changed(scene, two!)).toEqual([]);
      expect(await scene.output(two!, 'cat a d/x new')).toBe('two\ntwo\nparent\n');
    },
  },
  {
    name: 'changes inherited from the parent can be discarded and committed',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const parent = await scene.sandbox(codebase);
      const clean = await scene.output(parent, LIST);
      await scene.output(parent, WORK.replace('mv d e; echo z > e/sub/new', 'rm d/x; echo z > d/sub/new'));
      const worked = await scene.output(parent, LIST);
      const [one, two] = await fork(scene, parent, { count: 2 });
      await scene.client.call('Discard', { sandbox_id: one!.id });
      expect(await scene.output(one!, LIST)).toBe(clean);
      await scene.client.call('Commit', { sandbox_id: two!.id });
      expect(await scene.output(two!, LIST)).toBe(worked.replaceAll(/^(.\/a|.\/hard) 644 2/gm, '$1 644 1'));
      expect(await scene.output(parent, LIST)).toBe(worked);
    },
  },
  {
    name: 'the maximum number of forks in one request is created',
    timeoutMs: 60_000,
    async run(scene) {
      const parent = await scene.sandboxOn(TREE);
      await scene.output(parent, 'for i in $(seq 300); do echo $i > f$i; done');
      // A container takes a quarter of a second each.
      const count = scene.runtime === 'docker' ? 20 : 100;
      const children = await fork(scene, parent, { count });
      expect(new Set(children.map(({ id }) => id)).size).toBe(count);
      for (const child of [children[0]!, children[count >> 1]!, children[count - 1]!]) {
        expect(await scene.output(child, 'cat f300; ls | wc -l; echo mine > f1; cat f1')).toBe('300\n303\nmine\n');
      }
      expect(await scene.output(parent, 'cat f1')).toBe('1\n');
    },
  },
  {
    name: 'invalid names and counts and unknown checkpoints are refused',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      for (const name of ['', 'a b', '../x', 'x'.repeat(129)]) {
        await expectRefusal(checkpoint(scene, sandbox, name), 'INVALID_ARGUMENT', /^name (must have|is required)/);
      }
      await checkpoint(scene, sandbox, 'c');
      await expectRefusal(checkpoint(scene, sandbox, 'c'), 'ALREADY_EXISTS', /^sandbox \S+ has a checkpoint c$/);
      for (const count of [-1, 101]) {
        await expectRefusal(
          fork(scene, sandbox, { count }),
          'INVALID_ARGUMENT',
          /^count must be 0 or between 1 and 100/,
        );
      }
      await expectRefusal(fork(scene, sandbox, { checkpoint: 'none' }), 'NOT_FOUND', /^checkpoint: .*"none"/);
      await expectRefusal(fork(scene, sandbox, { preset: 'none' }), 'INVALID_ARGUMENT', /^preset must be one of/);
      await expectRefusal(rollback(scene, sandbox, 'none'), 'NOT_FOUND', /^checkpoint: /);
      await expectRefusal(deleteCheckpoint(scene, sandbox, 'none'), 'NOT_FOUND', /^name: /);
      await expectRefusal(fork(scene, { ...sandbox, id: 'sb_none' }), 'NOT_FOUND');
    },
  },
];

contract('checkpoints and forks', cases, { sandbox: { max_per_user: 0 } });

contract(
  'forks within limits',
  [
    {
      name: 'the quotas of files and bytes include what a fork shares with its parent',
      async run(scene) {
        const parent = await scene.sandboxOn(TREE);
        await scene.output(parent, 'head -c 600000 /dev/zero > f');
        const [child] = await fork(scene, parent);
        expect((await scene.run(child!, 'head -c 600000 /dev/zero > g')).exit_code).not.toBe(0);
        expect(await scene.output(child!, 'rm f; rm g; head -c 600000 /dev/zero > g; wc -c < g')).toBe('600000\n');
        expect((await scene.run(parent, 'head -c 600000 /dev/zero > g')).exit_code).not.toBe(0);
      },
    },
    {
      name: 'the contents of checkpoints count for the quota until they are deleted',
      async run(scene) {
        const sandbox = await scene.sandboxOn(TREE);
        const fill = (char: string) => `head -c 300000 /dev/zero | tr '\\0' ${char} > f`;
        for (const name of ['a', 'b', 'c']) {
          await scene.output(sandbox, fill(name));
          await checkpoint(scene, sandbox, name);
        }
        const refused = await scene.run(sandbox, fill('d'));
        expect(refused.exit_code).not.toBe(0);
        expect(refused.stderr).toMatch(/quota/i);
        const used = Number(await scene.output(sandbox, 'df -B1 --output=used . | tail -1'));
        expect(used).toBeGreaterThan(600_000);
        expect(used).toBeLessThanOrEqual(1_003_520);
        // The checkpoints have what is removed, so that makes no room.
        await scene.output(sandbox, 'rm f; head -c 50000 /dev/zero > f');
        expect((await scene.run(sandbox, 'head -c 300000 /dev/zero > g')).exit_code).not.toBe(0);
        await rollback(scene, sandbox, 'b');
        expect(await scene.output(sandbox, 'head -c 3 f; wc -c < f')).toBe('bbb300000\n');
        await scene.output(sandbox, 'truncate -s 280000 f; rm -f g');
        const sentence = /^with this checkpoint .* \(sandbox\.max_delta_bytes\) .*: delete checkpoints or files$/;
        await expectRefusal(checkpoint(scene, sandbox, 'd'), 'RESOURCE_EXHAUSTED', sentence);
        await deleteCheckpoint(scene, sandbox, 'a');
        await checkpoint(scene, sandbox, 'd');
        await deleteCheckpoint(scene, sandbox, 'b');
        await deleteCheckpoint(scene, sandbox, 'c');
        await scene.output(sandbox, `${fill('e')}; cp f g`);
        await eventually('the disk is free', async () => (await diskOf(scene, sandbox)) < 1_100_000);
      },
    },
    {
      name: 'each fork above max_per_user is reported with its own error',
      async run(scene) {
        const parent = await scene.sandboxOn(TREE);
        const { results } = await scene.client.call('Fork', { sandbox_id: parent.id, count: 5 });
        for (const { sandbox } of results) if (sandbox) scene.owns(sandbox);
        expect(results.map(({ sandbox, error }) => (sandbox ? 'made' : error?.code))).toEqual([
          'made',
          'made',
          'made',
          8,
          8,
        ]);
      },
    },
  ],
  { sandbox: { max_per_user: 4, max_delta_bytes: 1_000_000 } },
);

contract('forks of the mock runtime', [
  {
    name: 'a fork of a sandbox of the mock runtime is refused',
    runtimes: ['mock'],
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await expectRefusal(fork(scene, sandbox), 'FAILED_PRECONDITION');
      await expectRefusal(checkpoint(scene, sandbox, 'c'), 'FAILED_PRECONDITION');
      expect(existsSync(join(scene.state.directory, 'mounts/layers'))).toBe(true);
    },
  },
]);
