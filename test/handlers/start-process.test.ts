import { describe, expect, it } from 'vitest';
import { startProcess } from '../../handlers/processes.ts';
import { OPEN } from '../../lib/access/guard.ts';
import { call, message } from './call.ts';

const NO_SHELL = { env: {}, workdir: '', shell: '' };
const EMPTY = {
  process_id: '',
  command: '',
  argv: [],
  ...NO_SHELL,
  stdin: false,
  timeout: 0,
  labels: {},
  merge: false,
};

function scene() {
  const seen: unknown[] = [];
  const start = (request: object, signal: AbortSignal, keep: () => () => void) => {
    keep()();
    seen.push(request, signal);
    return {} as never;
  };
  return { seen, processes: { start } };
}

describe('StartProcess', () => {
  it('passes on the request, and the command that its call is counted as', async () => {
    const { seen, processes } = scene();
    const { signal } = new AbortController();
    const kept: string[] = [];
    const guard = {
      ...OPEN,
      keepCommand: () => {
        kept.push('kept');
        return () => void kept.push('ended');
      },
    };
    await call(startProcess, message({ sandbox_id: 'sb_1', argv: ['a', ''] }), { processes, signal, guard });
    expect(seen).toEqual([{ ...EMPTY, sandbox_id: 'sb_1', argv: ['a', ''], terminal: undefined }, signal]);
    expect(kept).toEqual(['kept', 'ended']);
  });

  it('has a terminal of 80 to 24 where a request has one without a size', async () => {
    const { seen, processes } = scene();
    const start = (terminal: object | null) =>
      call(startProcess, message({ sandbox_id: 'sb_1', command: 'vi', terminal }), { processes });
    const sizes = [{ columns: 132, rows: 50 }, {}, { columns: 0, rows: 0 }, { rows: 50 }, null];
    for (const size of sizes) await start(size);
    const started = seen.filter((_, index) => index % 2 === 0) as { terminal?: object }[];
    expect(started.map(({ terminal }) => terminal)).toEqual([
      { columns: 132, rows: 50 },
      { columns: 80, rows: 24 },
      { columns: 80, rows: 24 },
      { columns: 80, rows: 50 },
      undefined,
    ]);
    await expect(start({ columns: 1001, rows: 24 })).rejects.toThrow(
      'terminal.columns must be 0 or between 1 and 1000',
    );
  });

  it('needs either a command or argv, and a process_id that is safe in a URL', async () => {
    const { seen, processes } = scene();
    const start = (fields: object) => call(startProcess, message({ sandbox_id: 'sb_1', ...fields }), { processes });
    await expect(start({})).rejects.toThrow('command is required');
    await expect(start({ command: 'a', argv: ['a'] })).rejects.toThrow('argv must be empty with command');
    for (const process_id of ['.', '../a', 'a/b', 'a'.repeat(65)]) {
      await expect(start({ command: 'a', process_id })).rejects.toThrow('process_id must have 1 to 64');
    }
    expect(seen).toEqual([]);
  });
});
