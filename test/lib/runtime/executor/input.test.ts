import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Command, CommandInput, RunningCommand, RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { hasEnded, statusOf } from '../../../process-status.ts';
import { until } from '../bwrap/fixture.ts';
import { command, finish, run } from '../run.ts';
import { openShells } from './shells.ts';

const { launch } = openShells();
const refused = { code: 'FAILED_PRECONDITION' };

const open = (box: RunningSandbox, text: string, more: Partial<Command> = {}) =>
  box.exec(command(text, { openStdin: true, ...more })) as Promise<RunningCommand & { input: CommandInput }>;

/** Writes until a write waits for the program. Returns its promise and the number of bytes before it. */
async function fill(input: CommandInput): Promise<{ waiting: Promise<void>; taken: number }> {
  const piece = Buffer.alloc(8192);
  for (let taken = 0; ; taken += piece.length) {
    const waiting = input.write(piece);
    const soon = new Promise((resolve) => setTimeout(resolve, 200, 'waits'));
    waiting.catch(() => {});
    if ((await Promise.race([waiting, soon])) === 'waits') return { waiting, taken };
  }
}

describe('a command’s input', () => {
  it('reaches the program byte by byte, whatever its size', async () => {
    const box = await launch();
    const data = randomBytes(8_000_000);
    const sum = `${createHash('sha256').update(data).digest('hex')}  -\n`;
    expect(await run(box, '', { argv: ['sha256sum'], stdin: data })).toMatchObject({ stdout: sum, exitCode: 0 });

    const hashing = await open(box, 'sha256sum', { timeoutMs: undefined });
    const result = finish(hashing);
    for (let at = 0; at < data.length; at += 100_000) await hashing.input.write(data.subarray(at, at + 100_000));
    hashing.input.end();
    expect(await result).toMatchObject({ stdout: sum, exitCode: 0 });

    const counting = await open(box, 'cat');
    const text = finish(counting);
    for (let at = 0; at < 10_000; at++) await counting.input.write(Buffer.from(String(at % 10)));
    counting.input.end();
    expect(await text).toMatchObject({ stdout: '0123456789'.repeat(1000), exitCode: 0 });
    expect((await box.exec(command('true'))).input).toBeUndefined();
  });

  it('is answered while it is open', async () => {
    const box = await launch();
    const asking = await open(box, 'read -r a; echo "got $a"; read -r b; echo "then $b"');
    const events = asking[Symbol.asyncIterator]();
    const said = async () => {
      const { value } = await events.next();
      return value.kind === 'output' ? value.data.toString() : value;
    };
    await asking.input.write(Buffer.from('one\n'));
    expect(await said()).toBe('got one\n');
    await asking.input.write(Buffer.from('two\n'));
    expect(await said()).toBe('then two\n');
    expect(await said()).toMatchObject({ kind: 'exit', exitCode: 0 });
    await expect(asking.input.write(Buffer.from('x'))).rejects.toMatchObject(refused);
  });

  it('that is never read makes only its writer wait, until the command ends in any way', async () => {
    const box = await launch();
    const abort = new AbortController();
    const ends: [code: string | undefined, Partial<Command>, (running: RunningCommand) => unknown][] = [
      [undefined, {}, (running) => running.kill('SIGTERM')],
      [undefined, {}, (running) => running.kill('SIGKILL')],
      ['DEADLINE_EXCEEDED', { timeoutMs: 1000 }, () => {}],
      ['CANCELLED', { signal: abort.signal }, () => abort.abort()],
      ['UNAVAILABLE', {}, () => box.stop()],
    ];
    for (const [code, more, end] of ends) {
      const deaf = await open(box, 'exec sleep 60', { timeoutMs: undefined, ...more });
      const result = finish(deaf);
      const { waiting, taken } = await fill(deaf.input);
      expect(taken).toBeLessThanOrEqual(128 * 1024);
      if (code !== 'UNAVAILABLE') expect(await run(box, 'echo others')).toMatchObject({ stdout: 'others\n' });
      await end(deaf);
      await expect(waiting).rejects.toMatchObject(refused);
      await expect(deaf.input.write(Buffer.from('x'))).rejects.toMatchObject(refused);
      expect((await result).code).toBe(code);
    }
  });

  it('is refused once the program has closed it, and the program continues', async () => {
    const box = await launch();
    const closing = await open(box, 'read -r a; exec <&-; echo closed; sleep 60');
    const events = closing[Symbol.asyncIterator]();
    await closing.input.write(Buffer.from('a\n'));
    expect((await events.next()).value).toMatchObject({ kind: 'output', data: Buffer.from('closed\n') });
    await expect(closing.input.write(Buffer.from('b'))).rejects.toMatchObject(refused);
    expect(await closing.pids()).not.toEqual([]);
    await closing.kill('SIGKILL');
    expect((await events.next()).value).toMatchObject({ kind: 'exit', exitCode: 137 });
  });

  it('waits no longer when a program forges the report of its end', async () => {
    const box = await launch();
    const forging = await open(box, 'sleep 1; echo "0123456789abcdef x 0" >/proc/$PPID/fd/9; sleep 60');
    const result = finish(forging);
    const { waiting } = await fill(forging.input);
    // The end of the sandbox, which is that of bwrap, is known long after the end of its processes.
    const init = box.networkPid();
    const bwrap = Number(/^PPid:\t(\d+)$/m.exec(statusOf(init))![1]);
    process.kill(bwrap, 'SIGSTOP');
    await until('its end', () => hasEnded(init));
    expect(await Promise.race([result, delay(300)])).toBe(undefined);
    process.kill(bwrap, 'SIGCONT');
    expect(await result).toMatchObject({ code: 'UNAVAILABLE' });
    await expect(waiting).rejects.toMatchObject(refused);
    await forging.kill('SIGTERM');
    expect(await forging.pids()).toEqual([]);
    await forging.endLeftBehind?.();
  });
});
