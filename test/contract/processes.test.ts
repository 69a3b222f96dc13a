import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { ProcessEvent } from '../../lib/contract/messages.ts';
import { atTimeout } from '../at-timeout.ts';
import { eventually, expectRefusal, type Scene } from './scene.ts';
import { sleepers } from './sleepers.ts';
import { type Case, contract } from './suite.ts';

const MIB = 1024 * 1024;

/** All events of a process up to its end. */
async function eventsOf(scene: Scene, sandbox_id: string, process_id: string, offset?: number) {
  const events: ProcessEvent[] = [];
  const from = { sandbox_id, process_id, ...(offset !== undefined && { offset }) };
  for await (const event of scene.client.watch('WatchProcess', from)) events.push(event);
  return events;
}

const outputOf = (events: readonly ProcessEvent[], stream: string): string =>
  Buffer.concat(events.filter((each) => each.stream === stream).map(({ data }) => data)).toString();

/** The end of a process, once it has one. */
function endOf(scene: Scene, sandbox_id: string, process_id: string) {
  return eventually(`the end of ${process_id}`, async () => {
    const process = await scene.client.call('GetProcess', { sandbox_id, process_id });
    return process.end ?? undefined;
  });
}

const cases: Case[] = [
  {
    name: 'starts a process that goes on after the call, and sends its output and its end to a reader',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const command = "printf 'out'; printf 'err' >&2; while [ ! -e go ]; do sleep 0.02; done; printf 'more'; exit 5";
      const started = await scene.client.call('StartProcess', { sandbox_id, command, labels: { a: 'b' } });
      expect(started).toMatchObject({ sandbox_id, command, labels: { a: 'b' }, ended_at: 0, stdin_open: false });
      await scene.client.call('Exec', { sandbox_id, command: 'touch go' });
      const events = await eventsOf(scene, sandbox_id, started.process_id);
      expect([outputOf(events, 'stdout'), outputOf(events, 'stderr')]).toEqual(['outmore', 'err']);
      expect(events.filter(({ end }) => end !== undefined)).toEqual([events.at(-1)]);
      expect(events.at(-1)).toMatchObject({ next: 10, end: { reason: 'exited', exit_code: 5, signal: 0 } });
      const ended = await scene.client.call('GetProcess', { sandbox_id, process_id: started.process_id });
      expect(ended).toMatchObject({ output_first: 0, output_next: 10, end: { reason: 'exited', exit_code: 5 } });
    },
  },
  {
    name: 'runs a program with its arguments unchanged',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const argv = ['printf', '%s|', 'a b', '$HOME', "it's", '', 'ä\n'];
      const { process_id } = await scene.client.call('StartProcess', { sandbox_id, argv });
      expect(outputOf(await eventsOf(scene, sandbox_id, process_id), 'stdout')).toBe("a b|$HOME|it's||ä\n|");
      const absent = await scene.client.call('StartProcess', { sandbox_id, argv: ['no-such-program'] });
      expect(await endOf(scene, sandbox_id, absent.process_id)).toMatchObject({ reason: 'exited', exit_code: 127 });
    },
  },
  {
    name: 'starts nothing twice with the same process_id, and refuses another request with it',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const request = { sandbox_id, process_id: 'build-1', command: 'echo started >>log; sleep 7011' };
      const starts = await Promise.all([1, 2, 3].map(() => scene.client.call('StartProcess', request)));
      expect(new Set(starts.map(({ process_id }) => process_id))).toEqual(new Set(['build-1']));
      await eventually(
        'the start',
        async () => (await scene.client.call('Exec', { sandbox_id, command: 'cat log' })).stdout,
      );
      expect((await scene.client.call('Exec', { sandbox_id, command: 'cat log' })).stdout).toBe('started\n');
      await expectRefusal(
        scene.client.call('StartProcess', { ...request, command: 'true' }),
        'ALREADY_EXISTS',
        'build-1',
      );
      await expectRefusal(
        scene.client.call('StartProcess', { ...request, process_id: '../x' }),
        'INVALID_ARGUMENT',
        'process_id',
      );
      await scene.client.call('DeleteProcess', { sandbox_id, process_id: 'build-1' });
    },
  },
  {
    name: 'reads output by offset, and waits for it',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const command = 'printf 0123456789; while [ ! -e go ]; do sleep 0.02; done; printf ab';
      const { process_id } = await scene.client.call('StartProcess', { sandbox_id, command });
      const read = (offset: number, more = {}) =>
        scene.client.call('ReadProcessOutput', { sandbox_id, process_id, offset, wait: 20_000, ...more });
      const first = await read(0, { max_bytes: 4 });
      expect(first).toMatchObject({ gap: 0, next: 4, output: [{ stream: 'stdout', offset: 0 }] });
      expect(Buffer.from(first.output[0]!.data).toString()).toBe('0123');
      const waiting = read(10);
      await scene.client.call('Exec', { sandbox_id, command: 'touch go' });
      expect(Buffer.from((await waiting).output[0]!.data).toString()).toBe('ab');
      await endOf(scene, sandbox_id, process_id);
      expect(await read(12)).toMatchObject({ output: [], next: 12, end: { reason: 'exited', exit_code: 0 } });
      await expectRefusal(read(13), 'INVALID_ARGUMENT', 'offset');
    },
  },
  {
    name: 'goes on when its reader leaves, and another reader takes over at the offset',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const command = 'i=0; while [ $i -lt 200 ]; do echo line $i; i=$((i+1)); [ -e go ] || sleep 0.01; done';
      const { process_id } = await scene.client.call('StartProcess', { sandbox_id, command });
      let text = '';
      let next = 0;
      for await (const event of scene.client.watch('WatchProcess', { sandbox_id, process_id })) {
        text += Buffer.from(event.data).toString();
        next = event.next;
        if (next > 20) break;
      }
      await scene.client.call('Exec', { sandbox_id, command: 'touch go' });
      const rest = await eventsOf(scene, sandbox_id, process_id, next);
      const expected = Array.from({ length: 200 }, (_, index) => `line ${index}\n`).join('');
      expect(text + outputOf(rest, 'stdout')).toBe(expected);
    },
  },
  {
    name: 'keeps the newest output up to the limit, and tells what is gone',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const command = `head -c ${3 * MIB} /dev/zero; printf last`;
      const { process_id } = await scene.client.call('StartProcess', { sandbox_id, command });
      await endOf(scene, sandbox_id, process_id);
      const process = await scene.client.call('GetProcess', { sandbox_id, process_id });
      expect(process.output_next).toBe(3 * MIB + 4);
      expect(process.output_next - process.output_first).toBeLessThanOrEqual(MIB);
      expect(process.output_next - process.output_first).toBeGreaterThan(MIB / 2);
      const events = await eventsOf(scene, sandbox_id, process_id);
      expect(events[0]).toMatchObject({ gap: process.output_first });
      expect(outputOf(events, 'stdout').length).toBe(process.output_next - process.output_first);
      expect(outputOf(events, 'stdout').endsWith('\0last')).toBe(true);
    },
  },
  {
    name: 'takes input of any bytes, skips what was sent before, and ends it',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const { process_id, stdin_open } = await scene.client.call('StartProcess', {
        sandbox_id,
        command: 'sha256sum | cut -c 1-64',
        stdin: true,
      });
      expect(stdin_open).toBe(true);
      const data = randomBytes(5 * MIB);
      const process = { sandbox_id, process_id };
      const write = (from: number, to: number, offset?: number, end = false) =>
        scene.client.write(
          'WriteProcessInput',
          { ...process, ...(offset !== undefined && { offset }), ...(end && { end }) },
          data.subarray(from, to),
        );
      expect(await write(0, 1000)).toEqual({ input_next: 1000 });
      expect(await write(0, 3000, 0)).toEqual({ input_next: 3000 });
      await expectRefusal(write(4000, 5000, 4000), 'INVALID_ARGUMENT', 'offset');
      expect(await write(2000, data.length, 2000, true)).toEqual({ input_next: data.length });
      const digest = createHash('sha256').update(data).digest('hex');
      expect(outputOf(await eventsOf(scene, sandbox_id, process_id), 'stdout')).toBe(`${digest}\n`);
      await expectRefusal(write(0, 1), 'FAILED_PRECONDITION', 'has ended');
    },
  },
  {
    name: 'signals every process of a process and no other',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const start = (command: string) => scene.client.call('StartProcess', { sandbox_id, command });
      const one = await start('setsid sleep 7012 & sleep 7012; wait');
      const two = await start('sleep 7013');
      await eventually('both', async () => {
        const { stdout } = await scene.client.call('Exec', {
          sandbox_id,
          command: `${sleepers(7012)}; ${sleepers(7013)}`,
        });
        return stdout.trim().split('\n').length >= 3;
      });
      await scene.client.call('SignalProcess', { sandbox_id, process_id: one.process_id, signal: 'SIGTERM' });
      expect(await endOf(scene, sandbox_id, one.process_id)).toMatchObject({ reason: 'signaled', signal: 15 });
      await eventually('the end of the others', async () => {
        const { stdout } = await scene.client.call('Exec', { sandbox_id, command: sleepers(7012) });
        return stdout === '';
      });
      await scene.client.call('SignalProcess', { sandbox_id, process_id: two.process_id, signal: 'SIGKILL' });
      expect(await endOf(scene, sandbox_id, two.process_id)).toMatchObject({ reason: 'killed', exit_code: 137 });
      const bad = { sandbox_id, process_id: two.process_id, signal: 'SIGNOTHING' };
      await expectRefusal(scene.client.call('SignalProcess', bad), 'INVALID_ARGUMENT', 'signal');
    },
  },
  {
    name: 'deletes a process with everything that it started',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const command = '(setsid sh -c "sleep 7014 & sleep 7014" &) ; sleep 7014 & echo up; [ "$1" ] || exit 0';
      const { process_id } = await scene.client.call('StartProcess', { sandbox_id, command });
      await endOf(scene, sandbox_id, process_id);
      await scene.client.call('DeleteProcess', { sandbox_id, process_id });
      expect((await scene.client.call('Exec', { sandbox_id, command: sleepers(7014) })).stdout).toBe('');
      await expectRefusal(scene.client.call('GetProcess', { sandbox_id, process_id }), 'NOT_FOUND', process_id);
    },
  },
  {
    name: 'ends a process at its timeout, and when its sandbox is stopped, and keeps its output',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const slow = await scene.client.call('StartProcess', { sandbox_id, command: 'echo a; sleep 60', timeout: 1 });
      expect(await endOf(scene, sandbox_id, slow.process_id)).toMatchObject({ reason: 'timeout', exit_code: 137 });
      const { process_id } = await scene.client.call('StartProcess', { sandbox_id, command: 'echo kept; sleep 60' });
      await scene.client.call('ReadProcessOutput', { sandbox_id, process_id, wait: 20_000 });
      await scene.client.call('StopSandbox', { sandbox_id });
      expect(await endOf(scene, sandbox_id, process_id)).toMatchObject({ reason: 'sandbox_stopped', exit_code: -1 });
      expect(outputOf(await eventsOf(scene, sandbox_id, process_id), 'stdout')).toBe('kept\n');
      await expectRefusal(scene.client.call('StartProcess', { sandbox_id, command: 'true' }), 'FAILED_PRECONDITION');
    },
  },
  {
    name: 'lists processes newest first, by label and by state, page by page',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      for (const [process_id, command] of Object.entries({ a: 'true', b: 'sleep 7015', c: 'true' })) {
        await scene.client.call('StartProcess', { sandbox_id, process_id, command, labels: { of: command } });
      }
      for (const id of ['a', 'c']) await endOf(scene, sandbox_id, id);
      const ids = async (more: object) => {
        const { processes, next_page_token } = await scene.client.call('ListProcesses', { sandbox_id, ...more });
        return { ids: processes.map(({ process_id }) => process_id), next_page_token };
      };
      const first = await ids({ page_size: 2 });
      expect(first.ids).toEqual(['c', 'b']);
      expect(await ids({ page_size: 2, page_token: first.next_page_token })).toEqual({
        ids: ['a'],
        next_page_token: '',
      });
      expect((await ids({ labels: { of: 'true' } })).ids).toEqual(['c', 'a']);
      expect((await ids({ running: true })).ids).toEqual(['b']);
    },
  },
  {
    name: 'makes room for new processes by those that have ended, and refuses one above the limit of running ones',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const start = (command: string) => scene.client.call('StartProcess', { sandbox_id, command });
      const first = await start('true');
      await endOf(scene, sandbox_id, first.process_id);
      for (let running = 0; running < 8; running++) await start('sleep 7016');
      await expectRefusal(start('sleep 7016'), 'RESOURCE_EXHAUSTED', 'limits.processes');
      await expectRefusal(endOf(scene, sandbox_id, first.process_id), 'NOT_FOUND');
    },
  },
  {
    name: 'answers an Exec that yields with the process it goes on as, and one that ends before as usual',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const exec = (command: string, more = {}) =>
        scene.client.call('Exec', { sandbox_id, command, yield_after: 300, ...more });
      expect(await exec('echo fast; exit 3', { yield_after: 20_000 })).toMatchObject({
        stdout: 'fast\n',
        exit_code: 3,
        end_reason: 'exited',
        running: false,
        process_id: '',
      });
      const slow = await exec('echo begun; while [ ! -e go ]; do sleep 0.02; done; echo done');
      expect(slow).toMatchObject({ running: true, end_reason: '' });
      await scene.client.call('Exec', { sandbox_id, command: 'touch go' });
      const events = await eventsOf(scene, sandbox_id, slow.process_id);
      expect(outputOf(events, 'stdout')).toBe('begun\ndone\n');
      const late = await atTimeout(
        (timeout) => exec('echo a; sleep 60', { yield_after: 60_000, timeout }),
        ({ stdout }) => stdout !== '',
      );
      expect(late).toMatchObject({ stdout: 'a\n', end_reason: 'timeout', running: false });
      expect((await scene.client.call('ListProcesses', { sandbox_id })).processes.length).toBe(1);
    },
  },
  {
    name: 'runs Exec with argv and with standard input of any bytes, and tells what was left out',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const bytes = Buffer.from([0xff, 0, 0x0a, 0x80]);
      const stdin_bytes = scene.client.protocol === 'rest' ? bytes.toString('base64') : bytes;
      const exec = (request: object) => scene.client.call('Exec', { sandbox_id, ...request });
      const { stdout } = await exec({ argv: ['od', '-An', '-tx1'], stdin_bytes });
      expect(stdout.trim()).toBe('ff 00 0a 80');
      const cut = await exec({ command: `head -c ${9 * MIB} /dev/zero` });
      expect(cut).toMatchObject({ output_truncated: true, stdout_dropped_bytes: MIB, stderr_dropped_bytes: 0 });
      expect(await exec({ command: 'kill -TERM $$' })).toMatchObject({ exit_code: 143, end_reason: 'signaled' });
      await expectRefusal(exec({ command: 'true', argv: ['true'] }), 'INVALID_ARGUMENT', 'argv');
      await expectRefusal(exec({}), 'INVALID_ARGUMENT', 'command');
    },
  },
  {
    name: 'lists the ports that programs listen on, and waits for one',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const ports = (more: object) => scene.client.call('WaitPort', { sandbox_id, ...more });
      expect(await ports({ wait: 1 })).toEqual({ listening: false, ports: [] });
      const waiting = ports({ port: 7018, wait: 20_000 });
      const argv = ['python3', '-m', 'http.server', '7018', '--bind', '127.0.0.1'];
      await scene.client.call('StartProcess', { sandbox_id, process_id: 'web', argv });
      const found = await waiting;
      expect(found).toMatchObject({ listening: true, ports: [{ port: 7018, process_id: 'web' }] });
      expect(found.ports[0]!.pid).toBeGreaterThan(1);
      expect(found.ports[0]!.program).toMatch(/^python3/);
      expect(await ports({ port: 7019 })).toEqual({ listening: false, ports: [] });
      expect((await ports({ listening: true })).ports.map(({ port }) => port)).toEqual([7018]);
      await expectRefusal(ports({ port: 65_536 }), 'INVALID_ARGUMENT', 'port');
    },
  },
  {
    name: 'refuses what names no process, and a request without effect, with one sentence',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const none = { sandbox_id, process_id: 'none' };
      for (const operation of ['GetProcess', 'DeleteProcess', 'ReadProcessOutput'] as const) {
        await expectRefusal(scene.client.call(operation, none), 'NOT_FOUND', 'process "none" does not exist');
      }
      await expectRefusal(scene.client.watch('WatchProcess', none), 'NOT_FOUND');
      await expectRefusal(scene.client.write('WriteProcessInput', none, 'a'), 'NOT_FOUND');
      const start = (request: object) => scene.client.call('StartProcess', { sandbox_id, ...request });
      await expectRefusal(start({}), 'INVALID_ARGUMENT', 'command');
      await expectRefusal(start({ command: 'true', workdir: 'absent' }), 'INVALID_ARGUMENT', 'workdir');
      await expectRefusal(start({ command: 'true', terminal: { rows: -1 } }), 'INVALID_ARGUMENT', 'terminal.rows');
      expect((await scene.client.call('ListProcesses', { sandbox_id })).processes).toEqual([]);
      const { process_id } = await start({ command: 'sleep 7017' });
      const write = scene.client.write('WriteProcessInput', { sandbox_id, process_id }, 'a');
      await expectRefusal(write, 'FAILED_PRECONDITION', 'without stdin');
      const resize = { sandbox_id, process_id, columns: 80, rows: 24 };
      await expectRefusal(scene.client.call('ResizeTerminal', resize), 'FAILED_PRECONDITION', 'terminal');
    },
  },
];

contract('Processes', cases, { limits: { processes: 8, process_output_bytes: '1MiB' } });
