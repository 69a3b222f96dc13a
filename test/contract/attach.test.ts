import { expect } from 'vitest';
import type { ProcessEvent } from '../../lib/contract/messages.ts';
import type { AttachedClient } from './attached.ts';
import { expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

/** Reads events until the output contains `text`, or the end. Output is added to that of earlier calls. */
function reader({ events }: AttachedClient) {
  const iterator = events[Symbol.asyncIterator]();
  const seen: Partial<ProcessEvent>[] = [];
  const text = () => Buffer.concat(seen.map(({ data }) => data ?? Buffer.alloc(0))).toString();
  const until = async (wanted: string | undefined) => {
    while (wanted === undefined || !text().includes(wanted)) {
      const { done, value } = await iterator.next();
      if (done) break;
      seen.push(value);
    }
    return text();
  };
  return { seen, until };
}

const start = async (scene: Scene, request: object) => {
  const { id: sandbox_id } = await scene.sandboxOn({});
  const { process_id } = await scene.client.call('StartProcess', { sandbox_id, ...request });
  return { sandbox_id, process_id };
};

const cases: Case[] = [
  {
    name: 'carries input and output of a process without a terminal, and its end',
    async run(scene) {
      const process = await start(scene, { command: 'echo ready; cat; echo done >&2; exit 3', stdin: true });
      const client = scene.client.attach(process);
      const output = reader(client);
      expect(await output.until('ready\n')).toBe('ready\n');
      expect(output.seen[0]!.attached).toMatchObject({ terminal: false, writer: true });
      client.send({ stdin: Buffer.from('a\0\xff\n', 'latin1') });
      client.send({ stdin: Buffer.from('b\n'), end_stdin: true });
      await output.until(undefined);
      const sent = (name: string) =>
        Buffer.concat(output.seen.flatMap(({ stream, data }) => (stream === name && data ? [data] : [])));
      expect(sent('stdout').toString('latin1')).toBe('ready\na\0\xff\nb\n');
      expect(sent('stderr').toString()).toBe('done\n');
      expect(output.seen.at(-1)!.end).toMatchObject({ reason: 'exited', exit_code: 3 });
    },
  },
  {
    name: 'drives a terminal: its size, its control characters, and a signal while it does not read',
    async run(scene) {
      const command = 'stty size; read line; echo "got $line"; stty size; sleep 7023';
      const process = await start(scene, { command, terminal: {} });
      const client = scene.client.attach(process);
      const output = reader(client);
      await output.until('24 80');
      client.send({ resize: { columns: 99, rows: 33 } });
      client.send({ stdin: Buffer.from('hello\r') });
      expect(await output.until('33 99')).toContain('got hello');
      client.send({ signal: 'SIGTERM' });
      await output.until(undefined);
      expect(output.seen.at(-1)!.end).toMatchObject({ reason: 'signaled' });
    },
  },
  {
    name: 'lets one caller write and others watch, until one takes over; and goes on at an offset',
    async run(scene) {
      const process = await start(scene, { command: 'echo ready; cat', stdin: true });
      const writer = scene.client.attach(process);
      const writing = reader(writer);
      await writing.until('ready\n');
      const viewer = scene.client.attach({ ...process, offset: 6 });
      const viewing = reader(viewer);
      writer.send({ stdin: Buffer.from('one\n') });
      expect(await viewing.until('one\n')).toBe('one\n');
      expect(viewing.seen[0]!.attached).toMatchObject({ writer: false });
      viewer.send({ stdin: Buffer.from('no\n') });
      await expectRefusal(viewing.until(undefined), 'FAILED_PRECONDITION', 'takeover');

      const next = scene.client.attach({ ...process, offset: 10, takeover: true });
      const taken = reader(next);
      next.send({ stdin: Buffer.from('two\n') });
      expect(await taken.until('two\n')).toBe('two\n');
      await expectRefusal(writing.until(undefined), 'ABORTED', 'took over');
      next.close();
      const last = scene.client.attach(process);
      const replayed = reader(last);
      expect(await replayed.until('two\n')).toBe('ready\none\ntwo\n');
      last.close();
      expect((await scene.client.call('GetProcess', process)).end ?? undefined).toBeUndefined();
    },
  },
  {
    name: 'refuses what cannot be attached to',
    async run(scene) {
      const process = await start(scene, { command: 'echo a; exit 1' });
      const all = reader(scene.client.attach(process));
      expect(await all.until(undefined)).toBe('a\n');
      expect(all.seen.at(-1)!.end).toMatchObject({ exit_code: 1 });
      const refused = (request: object) => reader(scene.client.attach({ ...process, ...request })).until(undefined);
      await expectRefusal(refused({ process_id: 'none' }), 'NOT_FOUND', 'process "none" does not exist');
      await expectRefusal(refused({ offset: 99 }), 'INVALID_ARGUMENT', 'offset');
    },
  },
];

contract('AttachProcess', cases, { limits: { processes: 8 } });
