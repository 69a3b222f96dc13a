import { statfsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mount, unmount } from '../../lib/linux/mount.ts';
import type { Protocol } from './client.ts';
import { PROTOCOLS } from './client.ts';
import { eventually, expectRefusal, Scene } from './scene.ts';
import { Server, State } from './server.ts';

/** Not with echo alone: it calls every failure an I/O error. */
const FILL = 'cat /dev/zero 2>&1 > fill; for n in $(seq 2000); do echo $n > small-$n || break; done 2> /dev/null; true';

/** Without one, a sandbox could not fill the disk. */
const NO_RESERVE = { storage: { reserve_bytes: 0 } };

describe('a full disk of the host', () => {
  let state: State;
  let server: Server;

  beforeEach(async () => {
    state = await State.create();
    await mount({ type: 'tmpfs', options: 'size=48m,mode=0711', source: 'tmpfs', mountPoint: state.directory });
    server = await Server.start(state, { config: NO_RESERVE });
  });

  afterEach(async () => {
    await server.stop();
    await unmount(state.directory, 'force');
    const left = await state.leftovers();
    await state.remove();
    expect(left).toEqual([]);
  });

  const free = () => {
    const { bavail, bsize } = statfsSync(state.directory);
    return bavail * bsize;
  };

  it.each(PROTOCOLS)(
    'is reported to programs and to callers over %s, removals free it, and nothing is lost',
    async (protocol: Protocol) => {
      const scene = new Scene(server, state, 'bwrap', protocol);
      const codebase = await scene.codebase({ stored: 'stored\n', 'old/a': 'a\n', 'old/b': 'b\n' });
      const sandbox = await scene.sandbox(codebase);
      await scene.output(
        sandbox,
        'echo mine > mine; echo large > large; dd if=/dev/urandom of=large bs=1M count=2 status=none',
      );
      expect(await scene.output(sandbox, FILL)).toMatch(/No space left on device/);
      expect(free()).toBeLessThan(64 * 1024);
      const refused = await scene.run(sandbox, 'cat stored > copy');
      expect(refused).toMatchObject({ exit_code: 1, stderr: expect.stringMatching(/No space left on device/) });
      const upload = scene.client.upload(codebase.id, 'new', 'x'.repeat(1 << 20));
      await expectRefusal(upload, 'RESOURCE_EXHAUSTED');
      await expectRefusal(scene.client.call('Commit', { sandbox_id: sandbox.id }), 'RESOURCE_EXHAUSTED');
      // What only makes room is not refused, be it the codebase's or the sandbox's own.
      await scene.output(sandbox, 'rm -r old; rm mine; : > stored; test ! -e old');
      expect(await scene.output(sandbox, 'cat stored; ls -d stored large fill')).toBe('fill\nlarge\nstored\n');
      await scene.output(sandbox, 'rm fill');
      await eventually('the room is there again', async () => free() > 16 << 20);
      await scene.output(sandbox, 'echo new > new; rm small-*');
      await scene.client.upload(codebase.id, 'uploaded', 'x'.repeat(1 << 20));
      expect(await scene.output(sandbox, 'cat new; wc -c < uploaded; wc -c < large')).toBe('new\n1048576\n2097152\n');
      await scene.client.call('Commit', { sandbox_id: sandbox.id });
      expect(await scene.content(codebase, 'new')).toBe('new\n');
      await scene.close();
    },
  );

  it('loses nothing if the server is killed and restarted on it', async () => {
    const first = new Scene(server, state, 'bwrap', 'rest');
    const codebase = await first.codebase({ stored: 'stored\n', gone: 'gone\n' });
    const sandbox = await first.sandbox(codebase);
    await first.output(sandbox, 'echo mine > mine');
    expect(await first.output(sandbox, FILL)).toMatch(/No space left on device/);
    await first.output(sandbox, 'rm gone');
    const look = 'wc -c < fill; ls | sha1sum; cat mine stored; test ! -e gone';
    const before = await first.output(sandbox, look);
    await server.stop('SIGKILL');
    first.disconnect();
    await eventually('the end of the sandboxes', async () => state.processes().length === 0);
    server = await Server.start(state, { config: NO_RESERVE });
    const second = new Scene(server, state, 'bwrap', 'rest');
    expect(await second.output(sandbox, look)).toBe(before);
    await second.output(sandbox, 'rm fill');
    await eventually('the room is there again', async () => free() > 16 << 20);
    await second.output(sandbox, 'echo new > new && cat new');
    await second.client.call('DestroySandbox', { sandbox_id: sandbox.id });
    expect(await second.content(codebase, 'stored')).toBe('stored\n');
    await second.close();
  });
});
