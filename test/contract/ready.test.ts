import { expect, it } from 'vitest';
import { eventually, type Scene } from './scene.ts';
import { useServer } from './use-server.ts';

const served = useServer({ config: { runtime: { ready: 8 } } });

/** Users of ready sandboxes: those of processes that no sandbox on record has. */
function readyUsers(): Set<string> {
  return new Set(served.state.processes().map((each) => / of uid (\d+):/.exec(each)![1]!));
}

/** Waits until there are as many users of processes: sandboxes and ready ones. */
const users = (count: number) =>
  eventually('ready sandboxes', async () => (readyUsers().size >= count ? readyUsers() : undefined));

/**
 * What a command sees that could differ between sandboxes, apart from the files of its workspace. The number of processes is not
 * among it, nor are the programs that become the shell of the next command, which starts meanwhile. Nothing is in a pipe with the reader
 * of their names, because the other end of the pipe may be called `sh` still.
 */
const SEEN = [
  'id; hostname; env | grep -v "^PWD=" | sort; pwd; ls -A /tmp /home/sandbox /dev/shm /dev /run /run/agent/bin',
  'cat /proc/mounts | sort; ipcs | grep -c 0x; ls -l /proc/self/fd | grep -c " -> "; ulimit -a; umask',
  'cat /proc/net/dev | cut -d: -f1; grep -E "^(Cap|NoNew|Seccomp|Sig)" /proc/self/status; cat /proc/self/oom_score_adj',
  'stat -c "%a %u %g %n" / /tmp /workspace /run/agent /home/sandbox; running=$(cat /proc/[0-9]*/comm 2>/dev/null); echo "$running" | grep -vxE "setsid|env" | sort -u; cat /proc/self/cgroup | sed s/[0-9a-f]*$//',
].join('; ');

async function seen(scene: Scene, sandbox: { id: string }): Promise<string> {
  return (await scene.output(sandbox as never, SEEN)).replace(/,uid=\d+,gid=\d+/g, '');
}

it('the first command of a sandbox that was ready learns nothing but what it would have learned without', async () => {
  const scene = served.scene();
  const codebase = await scene.codebase({ f: 'text' });
  const plain = await scene.sandbox(codebase);
  const expected = await seen(scene, plain);
  await scene.output(plain, 'echo secret >/tmp/s; echo secret >/dev/shm/s; echo secret >s; ipcmk -M 100 >/dev/null');
  await users(3);
  const before = readyUsers();
  const taken = await scene.sandbox(codebase);
  expect(await seen(scene, taken)).toBe(expected);
  expect(await scene.output(taken, 'cat f; ls -A; git config user.email')).toBe(`textf\nagent@${taken.id}\n`);
  // The place's name is random, and the only one that is seen.
  const root = await scene.output(taken, "grep ' /workspace ' /proc/self/mountinfo | cut -d' ' -f4");
  expect(root).toMatch(/^\/[0-9a-f]{32}\/workspace\n$/);
  // It has the user of one that was there before.
  const after = await scene.output(taken, 'sleep 600 >/dev/null 2>&1 & :').then(() => served.state.processes());
  const own = after.find((each) => each.includes('sleep 600'))!;
  expect(before).toContain(/ of uid (\d+):/.exec(own)![1]);
  // It reaches no processes but its own.
  await scene.run(taken, 'kill -9 -1').catch(() => undefined);
  expect(await scene.output(plain, 'cat s')).toBe('secret\n');
  await scene.close();
});

it('a sandbox that was ready has its rules, limits, files and changes, and is destroyed with its place', async () => {
  const scene = served.scene();
  const codebase = await scene.codebase({ 'open/f': 'text', 'secret/f': 'hidden' });
  await scene.sandbox(codebase);
  await users(3);
  const permissions = [
    { pattern: '/open/**', permission: 'PERMISSION_WRITE' },
    { pattern: '/secret/**', permission: 'PERMISSION_NONE' },
  ] as never;
  const sandbox = await scene.sandbox(codebase, permissions, { resources: { pids_limit: 20, memory_bytes: 64 << 20 } });
  const root = await scene.output(sandbox, "grep ' /workspace ' /proc/self/mountinfo | cut -d' ' -f4");
  expect(root).toMatch(/^\/[0-9a-f]{32}\//);
  expect(await scene.output(sandbox, 'echo more >>open/f; cat open/f; ls -A; cat secret/f 2>&1; :')).toMatch(
    /^textmore\nopen\ncat: .*No such file/,
  );
  const bomb = await scene.run(sandbox, 'head -c 200M /dev/zero | tail -c 200M >/dev/null');
  expect(bomb.stderr).toContain(`${64 << 20} bytes`);
  const { changes } = await scene.client.call('ListChanges', { sandbox_id: sandbox.id } as never);
  expect(changes.map(({ path }) => path)).toEqual(['open/f']);
  await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
  await users(3);
  await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
  expect(await scene.output(sandbox, 'cat open/f; cat secret/f 2>&1; :')).toMatch(/^textmore\ncat: .*No such file/);
  // It is another ready one, with its user, and the limits of the record.
  const again = await scene.output(sandbox, "grep ' /workspace ' /proc/self/mountinfo | cut -d' ' -f4");
  expect(again).toMatch(/^\/[0-9a-f]{32}\//);
  expect(again).not.toBe(root);
  const second = await scene.run(sandbox, 'head -c 200M /dev/zero | tail -c 200M >/dev/null');
  expect(second.stderr).toContain(`${64 << 20} bytes`);
  expect(await scene.output(sandbox, 'echo x >>open/f; chmod 700 open; stat -c %u:%a open')).toBe('1000:700\n');
  await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id } as never);
  await scene.close();
});

it('of ready sandboxes nothing is left after kill -9 and the next start, nor after the end of a server', async () => {
  const first = served.scene();
  const sandbox = await first.sandboxOn({ f: 'text' });
  await users(3);
  const pids = served.state.processes();
  expect(await served.server.stop('SIGKILL')).toBe('SIGKILL');
  await served.start();
  const second = served.scene();
  expect(await second.output(sandbox, 'cat f')).toBe('text');
  // None of the same: the new server has made none yet, because nothing was created.
  const left = served.state.processes().filter((each) => pids.includes(each));
  expect(left).toEqual([]);
  expect(readyUsers().size).toBe(1);
  for (const scene of [first, second]) scene.disconnect();
});
