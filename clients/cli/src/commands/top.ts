import { setTimeout as delay } from 'node:timers/promises';
import { type Paddock, type ProcessInfo, type SandboxInfo as Sandbox, secondsOf } from 'paddock-sandbox';
import { type Context, command } from '../command-line/command.ts';
import { Reconnect } from '../exec/reconnect.ts';
import { gone, processesOf } from '../names/processes.ts';
import { durationOf } from '../options/durations.ts';
import type { Output } from '../output/output.ts';
import { printableName } from '../output/printable.ts';
import { agoText, commandText } from '../output/process-text.ts';
import { sizeText } from '../output/progress.ts';

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAST_MS = 200;
const LEAVE = '\x1b[?25h\x1b[?1049l';

export const top = command({
  summary: 'show sandboxes and their processes, live',
  details: `In a pipe and with --json it is shown once. q leaves. Memory and CPU are the limits of a sandbox, not what it uses.
Listing processes counts as activity; sandboxes with an idle timeout need --all.`,
  operands: {},
  options: {
    interval: { value: 'TIME', help: 'time between two looks (default: 2s)' },
    all: { short: 'a', help: 'also processes of sandboxes with an idle timeout' },
    once: { help: 'show it once' },
  },
  examples: ['paddock top', 'paddock top | grep web'],
  async run(context, { values }) {
    const { out } = context;
    const { all = false } = values;
    const interval = secondsOf('interval', durationOf('interval', values.interval ?? '2s')) * 1000;
    const paddock = await context.paddock();
    if (out.json || values.once || !out.isTerminal) {
      const rows = await look(paddock, { all, signal: context.signal });
      if (out.json) out.value(rows);
      else for (const line of linesOf(rows)) out.line(line);
      return 0;
    }
    return live(context, paddock, { interval: Math.max(interval, LEAST_MS), all });
  },
});

interface Row {
  sandbox: Sandbox;
  processes: readonly ProcessInfo[];
}

async function look(paddock: Paddock, { all, signal }: { all: boolean; signal: AbortSignal }): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const sandbox of paddock.api.listSandboxes({}, { signal })) {
    const runs = sandbox.status === 'running' && (all || sandbox.idleTimeout === 0);
    const processes = runs ? await processesOf(paddock, sandbox.id, { signal, running: true }).catch(gone) : [];
    rows.push({ sandbox, processes });
  }
  return rows;
}

function linesOf(rows: readonly Row[]): string[] {
  const cells = rows.flatMap(({ sandbox, processes }) => [
    [sandbox.id, sandbox.status, agoText(sandbox.createdAt), limitsOf(sandbox), labelsOf(sandbox)],
    ...processes.map((each) => [
      `  ${each.processId}`,
      'running',
      agoText(each.startedAt),
      `${sizeText(each.outputNext)} written`,
      commandText(each),
    ]),
  ]);
  const all = [['SANDBOX / PROCESS', 'STATUS', 'AGE', 'LIMITS', 'LABELS / COMMAND'], ...cells].map((row) =>
    row.map(printableName),
  );
  const widths = all[0]!.map((_, at) => Math.max(...all.map((row) => row[at]!.length)));
  return all.map((row) => row.map((cell, at) => (at < row.length - 1 ? cell.padEnd(widths[at]!) : cell)).join('  '));
}

function limitsOf({ resources }: Sandbox): string {
  if (!resources) return '';
  const { memoryBytes, cpuQuota } = resources;
  // Microseconds of CPU time in 100 ms.
  const cpu = cpuQuota ? `${cpuQuota / 100_000} cpu` : '';
  return [memoryBytes ? sizeText(memoryBytes) : '', cpu].filter(Boolean).join(', ');
}

const labelsOf = ({ labels }: Sandbox): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');

/** Until q or a signal. The terminal is set back, however it ends. */
async function live(
  context: Context,
  paddock: Paddock,
  { interval, all }: { interval: number; all: boolean },
): Promise<number> {
  const { out, signal } = context;
  const leave = new AbortController();
  const restore = () => out.bytes(LEAVE);
  const onKey = (key: Uint8Array) => {
    if (key[0] === 0x71 || key[0] === 0x03) leave.abort();
  };
  const { stdin } = process;
  process.once('exit', restore);
  if (stdin.isTTY) stdin.setRawMode(true).on('data', onKey).resume();
  out.bytes(ENTER);
  const either = AbortSignal.any([signal, leave.signal]);
  const reconnect = new Reconnect(either);
  try {
    for (;;) {
      try {
        show(linesOf(await look(paddock, { all, signal: either })), out);
        reconnect.reset();
        await delay(interval, undefined, { signal: either });
      } catch (error) {
        if (either.aborted) throw error;
        await reconnect.wait(error);
      }
    }
  } catch (error) {
    if (leave.signal.aborted) return 0;
    throw error;
  } finally {
    process.off('exit', restore);
    restore();
    if (stdin.isTTY) stdin.setRawMode(false).off('data', onKey).pause();
  }
}

/** As much as the terminal has room for. */
function show(lines: readonly string[], out: Output): void {
  const { rows = 24 } = process.stdout;
  const shown = lines.slice(0, rows - 1).map((line) => line.slice(0, out.columns));
  const [heading = '', ...others] = shown;
  out.bytes(`\x1b[H${[out.paint.bold(heading), ...others].join('\x1b[K\n')}\x1b[K\x1b[J`);
}
