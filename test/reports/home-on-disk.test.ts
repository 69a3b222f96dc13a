import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { expectRefusal, Scene } from '../contract/scene.ts';
import { Server, State } from '../contract/server.ts';

const MIB = 1 << 20;
const QUOTA = 40 * MIB;
const config = (quota = QUOTA) => ({ sandbox: { max_delta_bytes: quota, max_delta_files: 200, tmp_bytes: '8MiB' } });
const FULL = /Disk quota exceeded/;

describe('HOME of a sandbox', () => {
  let state: State;
  let server: Server;
  let scene: Scene;

  beforeEach(async () => {
    state = await State.create();
    server = await Server.start(state, { config: config() });
    scene = new Scene(server, state, 'bwrap', 'rest');
  });

  afterEach(async () => {
    await scene.close();
    await server.stop();
    const left = await state.leftovers();
    await state.remove();
    expect(left).toEqual([]);
  });

  /** The next server on the same state; the sandboxes are those of before. */
  async function restarted(signal: NodeJS.Signals, quota?: number): Promise<void> {
    scene.disconnect();
    await server.stop(signal);
    server = await Server.start(state, { config: config(quota) });
    scene = new Scene(server, state, 'bwrap', 'rest');
  }

  async function used(sandbox: Sandbox, path: string): Promise<number[]> {
    const lines = await scene.output(sandbox, `df -B1 --output=size,used ${path}`);
    return lines.trim().split('\n')[1]!.trim().split(/\s+/).map(Number);
  }

  it('holds more than was in memory, and df tells what is used of the quota in both directories', async () => {
    const quota = 400 * MIB;
    await restarted('SIGTERM', quota);
    const sandbox = await scene.sandboxOn({ a: 'a' });
    await scene.output(sandbox, 'head -c 300M /dev/zero > ~/large; head -c 2M /dev/zero > own');
    for (const path of ['~', '/workspace']) expect(await used(sandbox, path)).toEqual([quota, 302 * MIB]);
    expect(await used(sandbox, '/tmp')).toEqual([8 * MIB, 0]);
  });

  it('has one quota of bytes and of files with the workspace, and programs are told', async () => {
    const sandbox = await scene.sandboxOn({ a: 'a' });
    const fill = (place: string, size: string) => scene.run(sandbox, `head -c ${size} /dev/zero > ${place}`);
    await scene.output(sandbox, 'head -c 30M /dev/zero > ~/large');
    expect((await fill('/workspace/more', '11M')).stderr).toMatch(FULL);
    expect((await fill('~/more', '11M')).stderr).toMatch(FULL);
    await scene.output(sandbox, 'rm -f ~/more more ~/large; head -c 30M /dev/zero > large');
    expect((await fill('~/large', '11M')).stderr).toMatch(FULL);
    await scene.output(sandbox, 'rm large; head -c 11M /dev/zero > ~/large; mkdir ~/d d; cd ~/d; touch $(seq 150)');
    expect((await scene.run(sandbox, 'cd d && touch $(seq 150)')).stderr).toMatch(FULL);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'lasts over a %s of the server, and counts from its start on',
    async (signal) => {
      const sandbox = await scene.sandboxOn({ a: 'a' });
      await scene.output(
        sandbox,
        'mkdir ~/.cache; head -c 30M /dev/zero > ~/.cache/large; echo kept > ~/.profile; sync',
      );
      await restarted(signal);
      // Nothing looks into HOME before.
      expect(await used(sandbox, '/workspace')).toEqual([QUOTA, expect.closeTo(30 * MIB, -5)]);
      expect((await scene.run(sandbox, 'head -c 11M /dev/zero > own')).stderr).toMatch(FULL);
      expect(await scene.output(sandbox, 'cat ~/.profile; wc -c < ~/.cache/large')).toBe(`kept\n${30 * MIB}\n`);
      scene.owns(sandbox);
    },
  );

  it('lasts over a stop, and counts for what is uploaded before its first use', async () => {
    const sandbox = await scene.sandboxOn({ a: 'a' });
    const { id: sandbox_id } = sandbox;
    await scene.output(sandbox, 'head -c 30M /dev/zero > ~/large');
    await scene.client.call('StopSandbox', { sandbox_id });
    await scene.client.call('StartSandbox', { sandbox_id });
    const upload = (path: string, bytes: number) =>
      scene.client.write('WriteFile', { sandbox_id, path }, Buffer.alloc(bytes));
    await expectRefusal(upload('more', 11 * MIB), 'RESOURCE_EXHAUSTED', /exceeds the quota of the sandbox/);
    await upload('less', 5 * MIB);
    expect(await scene.output(sandbox, 'wc -c < ~/large; wc -c < less')).toBe(`${30 * MIB}\n${5 * MIB}\n`);
  });

  it('is no part of changes, checkpoints and forks, and a rollback leaves it as it is', async () => {
    const sandbox = await scene.sandboxOn({ a: 'a' });
    const { id: sandbox_id } = sandbox;
    await scene.output(sandbox, 'echo before > ~/mine');
    await scene.client.call('CreateCheckpoint', { sandbox_id, name: 'one' });
    await scene.output(sandbox, 'echo after > ~/mine; echo new > new');
    const { changes } = await scene.client.call('ListChanges', { sandbox_id });
    expect(changes.map(({ path }) => path)).toEqual(['new']);
    const { results } = await scene.client.call('Fork', { sandbox_id });
    const fork = results[0]!.sandbox!;
    scene.owns(fork);
    expect(await scene.output(fork, 'ls -A ~; cat new')).toBe('new\n');
    await scene.client.call('Rollback', { sandbox_id, checkpoint: 'one' });
    expect(await scene.output(sandbox, 'cat ~/mine; ls')).toBe('after\na\n');
    await scene.client.call('Discard', { sandbox_id });
    expect(await scene.output(sandbox, 'cat ~/mine')).toBe('after\n');
  });

  it('is a directory of its own: its files are no files of the workspace, and belong to the sandbox alone', async () => {
    const [sandbox, other] = [await scene.sandboxOn({ a: 'a' }), await scene.sandboxOn({ a: 'a' })];
    await scene.output(
      sandbox,
      'for i in $(seq 20); do echo $i > ~/$i; echo w$i > $i; done; stat -c %i * ~/* | sort -u | wc -l',
    );
    expect(
      await scene.output(sandbox, 'stat -c %i * ~/* | sort | uniq -d; cp ~/3 3; mv ~/4 .; cat 3 4; stat -c "%a %U" ~'),
    ).toBe('3\n4\n700 sandbox\n');
    expect((await scene.run(sandbox, 'ln ~/5 linked')).stderr).toMatch(/cross-device/);
    expect(await scene.output(other, 'ls -A ~')).toBe('');
  });

  it('has programs that run, locks and mapped files', async () => {
    const sandbox = await scene.sandboxOn({ a: 'a' });
    await scene.output(sandbox, 'mkdir -p ~/go/bin && cp /bin/echo ~/go/bin/mine');
    expect(await scene.output(sandbox, '~/go/bin/mine runs')).toBe('runs\n');
    const program = `
import fcntl, mmap, os
path = os.path.expanduser('~/db')
with open(path, 'wb+') as file:
    file.truncate(1 << 20)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with mmap.mmap(file.fileno(), 0) as mapped:
        mapped[5:9] = b'mine'
        mapped.flush()
    other = open(path)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print('locked', open(path, 'rb').read(9)[5:])
`;
    expect(await scene.output(sandbox, 'python3 -', { stdin: program })).toBe("locked b'mine'\n");
  });

  it('is removed from the disk with the sandbox', async () => {
    const sandbox = await scene.sandboxOn({ a: 'a' });
    await scene.output(sandbox, 'head -c 10M /dev/zero > ~/large');
    const delta = join(state.directory, 'mounts/deltas', sandbox.id);
    expect(statSync(join(delta, 'home')).isDirectory()).toBe(true);
    await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
    expect(() => statSync(delta)).toThrow(/ENOENT/);
  });

  it('is refused a size of /tmp without a limit', async () => {
    await server.stop();
    const start = Server.start(state, { config: { sandbox: { tmp_bytes: 0 } } });
    await expect(start).rejects.toThrow(/sandbox\.tmp_bytes.*at least 1048576/);
  });

  it('tells the quota where a checkpoint exceeds it', async () => {
    const sandbox = await scene.sandboxOn({ a: 'a' });
    const { id: sandbox_id } = sandbox;
    await scene.output(sandbox, `head -c ${QUOTA - 10} /dev/zero > ~/large; echo new > new`);
    const checkpoint = scene.client.call('CreateCheckpoint', { sandbox_id, name: 'one' });
    await expectRefusal(checkpoint, 'RESOURCE_EXHAUSTED', /files, HOME and checkpoints .*sandbox\.max_delta_bytes/);
  });
});
