import { describe, expect, it } from 'vitest';
import { exec } from '../../handlers/exec.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { CommandEvent } from '../../lib/runtime/runtime.ts';
import type { Services } from '../../lib/services.ts';
import { Shares } from '../../lib/shares.ts';
import { execution, exit, output } from '../adapters/fake-services.ts';
import { call, json } from './call.ts';

const run = (events: (CommandEvent | Error)[], limits?: Services['limits'], asked: object = {}) =>
  call(exec, json({ command: 'x', ...asked }), {
    sandboxes: { exec: async () => execution(...events) },
    ...(limits ? { limits } : {}),
  });

describe('Exec', () => {
  it('joins a character that arrives in two pieces, and replaces invalid UTF-8', async () => {
    const euro = Buffer.from('€');
    const answer = await run([
      output(euro.subarray(0, 1)),
      output('e', 'STDERR'),
      output(euro.subarray(1)),
      output(Buffer.from([0xff, 0x41, 0xe2])),
      exit(),
    ]);
    expect(answer).toMatchObject({ stdout: '€\ufffdA\ufffd', stderr: 'e' });
  });

  it('cuts each stream at the limit, reports that, and reads the rest', async () => {
    const answer = await run(
      [output('12345'), output('67'), output('ok', 'STDERR'), output('8'.repeat(99)), exit(0, 1)],
      {
        execOutputBytes: 6,
      },
    );
    expect(answer).toMatchObject({
      stdout: '123456\n[output cut at 6 bytes]\n',
      stderr: 'ok',
      exit_code: 0,
      duration_ms: 1,
      output_truncated: true,
      stdout_dropped_bytes: 100,
      stderr_dropped_bytes: 0,
    });
  });

  it('does not cut output of exactly the limit, and never within a character', async () => {
    expect(await run([output('123456'), exit()], { execOutputBytes: 6 })).toMatchObject({ stdout: '123456' });
    expect(await run([output('1\n€€'), exit()], { execOutputBytes: 6 })).toMatchObject({
      stdout: '1\n€\n[output cut at 6 bytes]\n',
    });
  });

  it('says after a timeout what is known and what to do', async () => {
    const late = new ServiceError('DEADLINE_EXCEEDED', 'the command ran longer than 9 ms');
    const given = (network: 'present' | 'absent' | 'tried') => ({
      sandboxes: { exec: async () => execution(late) },
      timeoutAdvice: async () => ({ maxTimeout: 600, network }),
    });
    const longer = 'a longer command takes a timeout of up to 600 seconds, or is started as a process';
    for (const [network, clause] of [
      ['present', ''],
      ['absent', ' if it waited for a network, the sandbox has none;'],
      ['tried', ' a program in the sandbox has tried to use a network, and there is none;'],
    ] as const) {
      await expect(call(exec, json({ command: 'x' }), given(network))).rejects.toMatchObject({
        message: `the command ran longer than 9 ms: its output so far is in the details;${clause} ${longer}`,
      });
    }
  });

  it('has what was refused in the error after a timeout', async () => {
    const hosts = ['a.example', 'b.example', 'c.example', 'pypi.org'];
    const denied_hosts = hosts.map((host) => ({
      host,
      port: host === 'pypi.org' ? 443 : 0,
      code: 'ceiling',
      reason: '',
    }));
    const late = new ServiceError('DEADLINE_EXCEEDED', 'late', [{ denied_hosts }]);
    await expect(run([output('half'), late])).rejects.toMatchObject({
      message: expect.stringContaining(
        'late: refused meanwhile: b.example (ceiling), c.example (ceiling), pypi.org:443 (ceiling) and 1 more; its output',
      ),
      details: [{ stdout: 'half', stderr: '', denied_hosts }],
    });
  });

  it('keeps the beginning and the end of each stream with max_output, and tells what it left out', async () => {
    const long = `first\n${'x'.repeat(1000)}\nlast\n`;
    expect(await run([output(long), output('e', 'STDERR'), exit()], undefined, { max_output: 21 })).toMatchObject({
      stdout: 'first\nxxxx\n[992 bytes left out]\nxxxx\nlast\n',
      stderr: 'e',
      output_truncated: true,
      stdout_dropped_bytes: 992,
      stderr_dropped_bytes: 0,
    });
    const both = await run([output(long), output(long, 'STDERR'), exit()], undefined, { max_output: 24 });
    expect(both).toMatchObject({ stdout: both.stderr, stdout_dropped_bytes: 1000, stderr_dropped_bytes: 1000 });
    const merged = await run([output(long), output('error', 'STDERR'), exit()], undefined, {
      merge: true,
      max_output: 10,
    });
    expect(merged).toMatchObject({ output: 'first\n[1007 bytes left out]\nerror', output_dropped_bytes: 1007 });
  });

  it('keeps all output that fits into max_output, and no more than the server’s limit', async () => {
    const fits = [output('abc'), output('de', 'STDERR'), exit()];
    expect(await run(fits, undefined, { max_output: 5 })).toMatchObject({ stdout: 'abc', output_truncated: false });
    const limited = await run([output('x'.repeat(50)), exit()], { execOutputBytes: 10 }, { max_output: 1_000_000 });
    expect(limited).toMatchObject({ stdout: 'xxxxx\n[40 bytes left out]\nxxxxx', stdout_dropped_bytes: 40 });
  });

  it('holds no more memory than it keeps output with max_output, and says if there is too little', async () => {
    const execMemory = new Shares<string>(400_000);
    const events = [output('a'.repeat(150_000)), output('b'.repeat(900_000)), output('c'.repeat(10)), exit()];
    const { stdout } = await run(events, { execMemory }, { max_output: 300_000 });
    expect(String(stdout)).toMatch(
      /^a{150000}\n\[\d+ bytes left out: the sandbox has its share of limits\.exec_memory_bytes in use\]\nb+c{10}$/,
    );
    expect(execMemory.available('')).toBe(200_000);
  });

  it('passes on any other error', async () => {
    const gone = new ServiceError('UNAVAILABLE', 'the sandbox died');
    await expect(run([output('half'), gone])).rejects.toBe(gone);
  });

  it('cuts output for which the server has no memory, reports that, and frees its memory', async () => {
    const execMemory = new Shares<string>(400_000);
    const answer = await run([output('a'.repeat(300_000)), output('e', 'STDERR'), exit(7, 1)], { execMemory });
    const cut = (bytes: number) =>
      `[output cut at ${bytes} bytes: the sandbox has its share of limits.exec_memory_bytes in use]\n`;
    const stdout = `${'a'.repeat(200_000)}\n${cut(200_000)}`;
    expect({ ...answer, stdout: String(answer.stdout) }).toMatchObject({
      stdout,
      stderr: cut(0),
      exit_code: 7,
      duration_ms: 1,
    });
    expect(execMemory.available('')).toBe(200_000);
  });

  it('refuses stdin for which the server has no memory, before it starts the command', async () => {
    const execMemory = new Shares<string>(100);
    const ran: unknown[] = [];
    const sandboxes = {
      exec: async () => {
        ran.push(1);
        return execution(exit());
      },
    };
    const sent = call(exec, json({ command: 'x', stdin: 'a'.repeat(51) }), { sandboxes, limits: { execMemory } });
    await expect(sent).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringMatching(/^stdin: /),
    });
    expect(ran).toEqual([]);
  });

  it('holds the memory until the answer is sent, if the adapter reports that', async () => {
    const execMemory = new Shares<string>(1_000_000);
    let left = () => {};
    await call(exec, json({ command: 'x' }), {
      sandboxes: { exec: async () => execution(output('a'), exit()) },
      limits: { execMemory },
      answered: (release) => {
        left = release;
      },
    });
    expect(execMemory.held('')).toBeGreaterThan(0);
    left();
    left();
    expect(execMemory.held('')).toBe(0);
  });

  it('throws an internal error if the execution ends without an exit code', async () => {
    await expect(run([output('half')])).rejects.toThrow('without an exit event');
  });
});
