import { expect } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { hide, read, view, write } from './rules.ts';
import { expectRefusal, type Scene } from './scene.ts';
import { type Case, contract, EVERY } from './suite.ts';

/** A program in the sandbox that says what it meets and goes on when a file `go` appears, outside of what is ruled. */
const READER = `
import mmap, os, signal, sys, time
fd = os.open('f', os.O_RDWR)
print(os.pread(fd, 4, 0).decode())
open('/tmp/ready', 'w').close()
while not os.path.exists('/tmp/go'): time.sleep(0.01)
for what, call in (('read', lambda: os.pread(fd, 4, 0)), ('write', lambda: os.pwrite(fd, b'x', 0))):
    try:
        call()
        print(what, 'ok')
    except OSError as error:
        print(what, os.strerror(error.errno))
`;

const MAPPER = `
import mmap, os, time
fd = os.open('f', os.O_RDONLY)
m = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
first = m[0]
open('/tmp/ready', 'w').close()
while not os.path.exists('/tmp/go'): time.sleep(0.01)
child = os.fork()
if child == 0:
    os._exit(m[0] - first)
print('signal', os.waitpid(child, 0)[1] & 127)
`;

const update = (scene: Scene, sandbox: Sandbox, permissions: object[], preset = '') =>
  scene.client.call('UpdatePermissions', { sandbox_id: sandbox.id, permissions, preset });

const cases: Case[] = [
  ...(
    [
      ['write', write, 'read ok\nwrite ok'],
      ['read', read, 'read ok\nwrite Permission denied'],
      ['view', view, 'read Permission denied\nwrite Permission denied'],
      ['none', hide, 'read Permission denied\nwrite Permission denied'],
    ] as const
  ).map(
    ([what, rule, expected]): Case => ({
      name: `an open descriptor has the new level after the response: ${what}`,
      async run(scene) {
        const sandbox = await scene.sandboxOn({ f: 'text' });
        const said = await scene.whileRunning(sandbox, READER, async () => {
          const updated = await update(scene, sandbox, [write('**'), rule('f', 5)]);
          expect(updated.permissions).toEqual([write('**'), rule('f', 5)]);
        });
        expect(said).toBe(`text\n${expected}\n`);
      },
    }),
  ),
  {
    name: 'mapped pages can no longer be read',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ f: 'text' });
      const hidden = await scene.whileRunning(sandbox, MAPPER, async () => {
        await update(scene, sandbox, [write('**'), hide('f', 5)]);
      });
      expect(hidden).toBe('signal 7\n');
    },
  },
  {
    name: "shows and hides paths again, including names in the kernel's cache",
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'a/f': 'text' }, [read('**'), hide('a/f', 1)]);
      const look = async () => (await scene.run(sandbox, 'ls a; cat a/f')).stdout;
      expect(await look()).toBe('');
      await update(scene, sandbox, [read('**')]);
      expect(await look()).toBe('f\ntext');
      await update(scene, sandbox, [read('**'), hide('a/f', 1)]);
      expect(await look()).toBe('');
    },
  },
  {
    name: 'a rule that hides one hard link of a file hides the others, also in listings that the kernel caches',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'b/own': '' });
      await scene.output(sandbox, 'mkdir a; echo text > a/f; ln a/f b/f; ln a/f b/g');
      const look = async () => (await scene.run(sandbox, 'ls a b; stat -c %s b/f; cat b/g')).stdout;
      const all = 'a:\nf\n\nb:\nf\ng\nown\n5\ntext\n';
      expect([await look(), await look()]).toEqual([all, all]);
      await update(scene, sandbox, [write('**'), hide('a/f', 5)]);
      expect(await look()).toBe('a:\n\nb:\nown\n');
      const files = await scene.client.call('ListDirectory', { sandbox_id: sandbox.id, path: 'b' });
      expect(files.files.map(({ path }) => path)).toEqual(['b/own']);
      const stat = scene.client.call('StatFile', { sandbox_id: sandbox.id, path: 'b/f' });
      await expectRefusal(stat, 'NOT_FOUND');
      await update(scene, sandbox, [write('**')]);
      expect(await look()).toBe(all);
    },
  },
  {
    name: 'new rules are kept after a stop',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ f: 'text' });
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await update(scene, sandbox, [], 'read-only');
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect((await scene.run(sandbox, 'cat f; echo x > f')).stdout).toBe('text');
    },
  },
  {
    name: 'an invalid rule is refused, and the old rules are kept',
    runtimes: EVERY,
    async run(scene) {
      const sandbox = await scene.sandboxOn({ f: 'text' });
      const wrong = update(scene, sandbox, [read('**'), read('[')]);
      await expectRefusal(wrong, 'INVALID_ARGUMENT', /^permissions\[1\]\.pattern/);
      await expectRefusal(update(scene, sandbox, [], 'none'), 'INVALID_ARGUMENT', /^preset must be one of/);
      const { permissions } = await scene.client.call('GetSandbox', { sandbox_id: sandbox.id });
      expect(permissions).toEqual(sandbox.permissions);
      await expectRefusal(update(scene, { ...sandbox, id: 'sb_none' }, []), 'NOT_FOUND', /sb_none/);
    },
  },
  {
    name: 'ExplainPermission returns the winning rule and the rules it overrides',
    runtimes: EVERY,
    async run(scene) {
      const rules = [read('**'), write('src/'), hide('src/key', 3)];
      const sandbox = await scene.sandboxOn({}, rules);
      const explain = (path: string) => scene.client.call('ExplainPermission', { sandbox_id: sandbox.id, path });
      const key = await explain('/src/key');
      expect(key).toMatchObject({
        path: 'src/key',
        permission: 'PERMISSION_NONE',
        winner: { index: 2, rule: rules[2] },
      });
      expect(key.beaten.map(({ index }) => index)).toEqual([1, 0]);
      expect(key.reason).toContain('has the higher priority');
      expect(await explain('src/other')).toMatchObject({ permission: 'PERMISSION_WRITE', winner: { index: 1 } });
      expect(await explain('')).toMatchObject({ path: '', permission: 'PERMISSION_READ' });
      await expectRefusal(explain('a/../b'), 'INVALID_ARGUMENT', /^path must not have/);
    },
  },
  {
    name: 'a sandbox with a preset has the rules of the preset and its own, for every listed preset',
    runtimes: EVERY,
    async run(scene) {
      const { presets } = await scene.client.call('ListPresets', {});
      expect(presets.map(({ name }) => name)).toEqual(['read-only', 'full-access', 'agent-safe', 'development']);
      const codebase = await scene.codebase();
      for (const { name, description, permissions } of presets) {
        expect(description).toMatch(/\.$/);
        const sandbox = await scene.sandbox(codebase, [hide('x', 7)], { preset: name });
        expect(sandbox.permissions).toEqual([...permissions, hide('x', 7)]);
      }
    },
  },
  {
    name: 'agent-safe puts placeholders in place of secrets and allows writes to its output directories only',
    async run(scene) {
      const tree = { 'src/main.js': 'main', '.env': 'KEY=1', '.git/config': 'token', 'certs/a.pem': 'pem' };
      const sandbox = await scene.sandboxOn({ ...tree, 'output/old': 'old' }, [], { preset: 'agent-safe' });
      expect(await scene.output(sandbox, 'find . -type f | sort')).toBe(
        './.env\n./.git/config\n./certs/a.pem\n./output/old\n./src/main.js\n',
      );
      expect(await scene.output(sandbox, 'cat .git/config certs/a.pem')).toBe('# hidden\n# hidden\n');
      expect(await scene.output(sandbox, 'cat .env')).toMatch(/^KEY=pdk[a-z2-7]{24}$/);
      await scene.output(sandbox, 'cat src/main.js && echo new > output/new');
      expect((await scene.run(sandbox, 'echo x > src/main.js')).stderr).toMatch(/Permission denied/);
    },
  },
];

contract('rules of a running sandbox', cases);
