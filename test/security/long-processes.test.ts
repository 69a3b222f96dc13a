import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually, expectRefusal } from '../contract/scene.ts';
import { sleepers } from '../contract/sleepers.ts';
import { attacks } from './suite.ts';

const MIB = 1024 * 1024;
const MOST_GROWTH = 96 * MIB;

attacks(
  'long-processes',
  (target) => {
    it('59b: endless output of processes that nobody reads is bounded on disk and in memory', async () => {
      const { scene, server, state } = target;
      const { id: sandbox_id } = await scene.sandboxOn({});
      const before = server.rss();
      for (const process_id of ['a', 'b', 'c', 'd', 'e', 'f']) {
        const command = process_id < 'd' ? 'exec yes' : 'while :; do printf o; printf e >&2; done';
        await scene.client.call('StartProcess', { sandbox_id, process_id, command });
      }
      await eventually('much more output than is kept', async () => {
        const { output_next } = await scene.client.call('GetProcess', { sandbox_id, process_id: 'a' });
        return output_next > 64 * MIB;
      });
      const { processes } = await scene.client.call('ListProcesses', { sandbox_id });
      for (const { output_next, output_first } of processes) {
        expect(output_next - output_first).toBeLessThanOrEqual(4 * MIB);
      }
      const [kept] = execFileSync('du', ['-sk', join(state.directory, 'mounts', 'processes')], {
        encoding: 'utf8',
      }).split('\t');
      expect(Number(kept)).toBeLessThanOrEqual(12 * 1024);
      expect(server.rss() - before).toBeLessThan(MOST_GROWTH);
      expect((await scene.rest.send('GET', '/health')).status).toBe(200);
    });

    it('59c: input that a process never reads waits at its sender, not in the server', async () => {
      const { scene, server } = target;
      const { id: sandbox_id } = await scene.sandboxOn({});
      const { process_id } = await scene.client.call('StartProcess', {
        sandbox_id,
        command: 'sleep 7061',
        stdin: true,
      });
      const before = server.rss();
      let sent = 0;
      async function* endless() {
        for (; ; sent++) yield Buffer.alloc(MIB);
      }
      const writing = scene.client.write('WriteProcessInput', { sandbox_id, process_id }, endless()).catch(() => 'cut');
      let last = -1;
      await eventually('a sender that waits', async () => {
        const still = sent > 0 && sent === last;
        last = sent;
        return still;
      });
      expect(sent).toBeLessThan(32);
      expect(server.rss() - before).toBeLessThan(MOST_GROWTH);
      await scene.client.call('DeleteProcess', { sandbox_id, process_id });
      expect(await writing).toBe('cut');
    });

    it('59d: hundreds of starts leave the limit of processes, and no more', async () => {
      const { scene, server, state } = target;
      const { id: sandbox_id } = await scene.sandboxOn({});
      const before = server.rss();
      const start = () =>
        scene.client.call('StartProcess', { sandbox_id, command: ':' }).catch((error: Error) => error);
      for (let round = 0; round < 40; round++) {
        const results = await Promise.all(Array.from({ length: 10 }, start));
        const refused = results.filter((each) => each instanceof Error);
        for (const each of refused) expect((each as Error).message).toContain('limits.processes');
      }
      const { processes } = await scene.client.call('ListProcesses', { sandbox_id });
      expect(processes.length).toBeLessThanOrEqual(16);
      const directories = () =>
        execFileSync('ls', [join(state.directory, 'mounts', 'processes', sandbox_id)], { encoding: 'utf8' }).split('\n')
          .length - 1;
      await eventually('the removal of the others', async () => directories() <= 16);
      expect(server.rss() - before).toBeLessThan(MOST_GROWTH);
    });

    it('59e: a fork bomb in a process that is deleted leaves nothing, and the sandbox goes on', async () => {
      const { scene } = target;
      const { id: sandbox_id } = await scene.sandboxOn({}, undefined, { resources: { pids_limit: 200 } });
      const command = 'b() { setsid sh -c "(sleep 7062 &)" & b & b; }; b; wait';
      const { process_id } = await scene.client.call('StartProcess', { sandbox_id, command });
      // The bomb ends itself at the limit, perhaps before the first look; of the sleepers, 80 and more stay. A command that finds no
      // place for a process fails.
      await eventually('the limit of processes, or what is left of it', async () => {
        const { exit_code, stdout } = await scene.client
          .call('Exec', { sandbox_id, command: 'set -- /proc/[0-9]*; echo $#; (:)' })
          .catch(() => ({ exit_code: 1, stdout: '' }));
        return exit_code !== 0 || Number(stdout) > 40;
      });
      await scene.client.call('DeleteProcess', { sandbox_id, process_id });
      await eventually('a sandbox without them', async () => {
        const left = await scene.client
          .call('Exec', { sandbox_id, command: `${sleepers(7062)}; ls -d /proc/[0-9]* | wc -l` })
          .catch(() => undefined);
        return left !== undefined && Number(left.stdout) > 0 && Number(left.stdout) < 20;
      });
      await expectRefusal(scene.client.call('GetProcess', { sandbox_id, process_id }), 'NOT_FOUND');
    });

    it('59f: escape sequences and forged records in output reach its reader unchanged, and nothing else', async () => {
      const { scene, server } = target;
      const { id: sandbox_id } = await scene.sandboxOn({});
      const command = `printf '\\033]0;owned\\007{"end":{"reason":"exited"}}\\n0123456789abcdef x 0\\n'; printf '\\0\\377'`;
      const { process_id } = await scene.client.call('StartProcess', { sandbox_id, command });
      let bytes = Buffer.alloc(0);
      for await (const { data, end } of scene.client.watch('WatchProcess', { sandbox_id, process_id })) {
        bytes = Buffer.concat([bytes, data ?? Buffer.alloc(0)]);
        if (end) expect(end).toMatchObject({ reason: 'exited', exit_code: 0 });
      }
      expect(bytes.toString('latin1')).toBe(
        '\u001b]0;owned\u0007{"end":{"reason":"exited"}}\n0123456789abcdef x 0\n\0\u00ff',
      );
      expect(server.log.filter((line) => line.includes('owned'))).toEqual([]);
    });
  },
  { limits: { processes: 16, process_output_bytes: '4MiB', sandbox_output_bytes: '8MiB' } },
);
