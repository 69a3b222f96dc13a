import { expect } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { eventually, expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

const TREE = { a: 'one\n', 'd/x': 'x\n', 'd/sub/y': 'y\n' };
const LIST = 'find . -type f -exec sh -c \'echo "$1 $(cat "$1")"\' - {} \\; | sort';

const discard = (scene: Scene, sandbox: Sandbox, paths: string[] = []) =>
  scene.client.call('Discard', { sandbox_id: sandbox.id, paths });

const cases: Case[] = [
  {
    name: 'all changes are reverted, in a running and in a stopped sandbox',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      const before = await scene.output(sandbox, LIST);
      const work = 'echo more >> a; rm d/x; mv d e; mkdir new; echo n > new/n; ln a b';
      await scene.output(sandbox, work);
      expect((await discard(scene, sandbox)).discarded).toBeGreaterThan(4);
      expect(await scene.output(sandbox, LIST)).toBe(before);
      await scene.output(sandbox, work);
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await discard(scene, sandbox);
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, LIST)).toBe(before);
      expect((await scene.client.call('ListChanges', { sandbox_id: sandbox.id })).changes).toEqual([]);
    },
  },
  {
    name: 'only the chosen paths are reverted',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'echo A > a; echo X > d/x; rm -r d/sub; echo n > n');
      await discard(scene, sandbox, ['/d/', 'n']);
      expect(await scene.output(sandbox, LIST)).toBe('./a A\n./d/sub/y y\n./d/x x\n');
    },
  },
  {
    name: 'open descriptors, mapped pages and working directories show the version of the codebase',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'echo TWO > a; echo n > d/sub/n');
      const program = [
        'import mmap, os, time',
        "os.chdir('d/sub')",
        "f = open('/workspace/a', 'r+b')",
        'm = mmap.mmap(f.fileno(), 4)',
        "print(m[:3].decode(), sorted(os.listdir('.')))",
        "open('/tmp/ready', 'w').close()",
        "while not os.path.exists('/tmp/go'): time.sleep(0.01)",
        "print(os.pread(f.fileno(), 9, 0), m[:3].decode(), sorted(os.listdir('.')), os.getcwd())",
        "os.pwrite(f.fileno(), b'W', 0)",
      ].join('\n');
      const said = await scene.whileRunning(sandbox, program, () => discard(scene, sandbox));
      expect(said).toBe("TWO ['n', 'y']\nb'one\\n' one ['y'] /workspace/d/sub\n");
      expect(await scene.output(sandbox, 'cat a')).toBe('Wne\n');
    },
  },
  {
    name: 'reverted files and directories no longer count for the quota, also if no program accesses them again',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'head -c 1000000 /dev/zero > big; mkdir -p n/m; touch n/1 n/m/2; ls -lR');
      await discard(scene, sandbox);
      await eventually('nothing is counted', async () => {
        const used = await scene.output(sandbox, 'df --output=used,iused . | tail -n 1');
        return /^\s*0\s+[01]\s*$/.test(used);
      });
    },
  },
  {
    name: 'a path inside a renamed directory is refused, and nothing changes',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'mv d e; echo A > a');
      const before = await scene.output(sandbox, LIST);
      await expectRefusal(discard(scene, sandbox, ['a', 'e/x']), 'FAILED_PRECONDITION', /"e\/x" is inside "e"/);
      await expectRefusal(discard(scene, sandbox, ['../a']), 'INVALID_ARGUMENT', /^paths\[0\]/);
      expect(await scene.output(sandbox, LIST)).toBe(before);
    },
  },
];

contract('discarding changes', cases);
