import { describe, expect, it } from 'vitest';
import { attachOutput, openAttach } from '../../handlers/input/attach-input.ts';
import { bool, bytes, integer, message, optional, string } from '../../handlers/input/kinds.ts';
import { ServiceError } from '../../lib/errors.ts';

const FIELDS = {
  sandbox_id: string,
  process_id: string,
  stdin: bytes,
  end_stdin: bool,
  resize: optional(message({ columns: integer('int32', {}), rows: integer('int32', {}) })),
  signal: string,
};
const NAMES = { sandbox_id: 'sb_1', process_id: 'p_1' };
const REQUEST = { ...NAMES, stdin: new Uint8Array(0), end_stdin: false, signal: '' };
const never = new AbortController().signal;

async function* of(...messages: unknown[]): AsyncGenerator<unknown, void, void> {
  yield* messages;
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of source) found.push(each);
  return found;
}

describe('the input of an attach', () => {
  it('has the request in the first message, unless it is in the path', async () => {
    const opened = await openAttach(FIELDS, { ...REQUEST, sandbox_id: '' }, of(NAMES));
    expect(opened.request).toEqual(REQUEST);
    const unnamed = openAttach(FIELDS, { ...REQUEST, sandbox_id: '' }, of({ process_id: 'p_1' }));
    await expect(unnamed).rejects.toThrow('the first message must name sandbox_id');
    await expect(openAttach(FIELDS, { ...REQUEST, sandbox_id: '' }, of())).rejects.toThrow('the first message');
    expect((await openAttach(FIELDS, REQUEST, of())).request).toEqual(REQUEST);
  });

  it('is divided into standard input and changes, in order', async () => {
    const stdin = Buffer.from('a');
    const messages = of(
      { ...NAMES, stdin, resize: { columns: 8, rows: 2 } },
      { signal: 'SIGINT' },
      { stdin, end_stdin: true, resize: { columns: 0, rows: 0 } },
    );
    const input = (await openAttach(FIELDS, { ...REQUEST, sandbox_id: '' }, messages)).start(never);
    expect(await all(input.stdin)).toEqual([
      { stdin, end_stdin: false },
      { stdin, end_stdin: true },
    ]);
    expect(await all(input.controls)).toEqual([
      { resize: { columns: 8, rows: 2 }, signal: '' },
      { resize: undefined, signal: 'SIGINT' },
    ]);
  });

  it('holds 64 KiB for a process that does not read, and changes do not wait for that', async () => {
    let read = 0;
    async function* messages() {
      yield { stdin: Buffer.alloc(1000) };
      yield { signal: 'SIGINT' };
      for (; ; read++) yield { stdin: Buffer.alloc(1000) };
    }
    const input = (await openAttach(FIELDS, REQUEST, messages())).start(never);
    for await (const { signal } of input.controls) {
      expect(signal).toBe('SIGINT');
      break;
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBeGreaterThan(50);
    expect(read).toBeLessThan(70);
    input.end();
  });

  it.each([
    ['a field of the wrong type', { signal: 5 }, 'signal must be a string'],
    ['an unknown field', { stdout: 'a' }, 'stdout is not a known field'],
    ['another process', { process_id: 'p_2' }, 'process_id must stay empty, or the same as in the first message'],
  ])('fails the output for %s', async (_, wrong, problem) => {
    const input = (await openAttach(FIELDS, REQUEST, of(wrong))).start(never);
    const output = attachOutput(new ReadableStream<string>() as AsyncIterable<string>, input);
    await expect(all(output)).rejects.toThrow(problem);
    expect(await all(input.stdin)).toEqual([]);
  });

  it('ends with the call, and with its output', async () => {
    const call = new AbortController();
    const silent = () => new ReadableStream<string>() as AsyncIterable<string>;
    const input = (await openAttach(FIELDS, REQUEST, silent())).start(call.signal);
    const reading = all(input.stdin);
    const output = all(attachOutput(silent(), input));
    call.abort(new ServiceError('UNAUTHENTICATED', 'the key was revoked'));
    await expect(output).rejects.toThrow('the key was revoked');
    expect(await reading).toEqual([]);

    const other = (await openAttach(FIELDS, REQUEST, silent())).start(never);
    expect(await all(attachOutput(of('a'), other))).toEqual(['a']);
    expect(await all(other.controls)).toEqual([]);
  });
});
