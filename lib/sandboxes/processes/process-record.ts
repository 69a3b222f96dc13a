import { createHash } from 'node:crypto';
import type { Process, ProcessEnd, TerminalSize } from '../../contract/messages.ts';
import type { NewProcess } from '../../process-services.ts';

/** Maximum characters of a command or of all arguments that a record repeats. */
const SHOWN_COMMAND = 4096;

/** The part of a process that survives a restart of the server: a file in the directory of its log. */
export interface ProcessRecord {
  version: 1;
  process_id: string;
  /** Increases with each process of the sandbox. */
  order: number;
  command: string;
  argv: string[];
  workdir: string;
  labels: Record<string, string>;
  terminal?: TerminalSize;
  stdin: boolean;
  /** See `requestHash`. */
  request: string;
  /** Unix seconds. */
  started_at: number;
  /** Absent: it runs, or the server that ran it is gone. */
  end?: ProcessEnd;
  ended_at?: number;
  input_next?: number;
}

/** Identifies a request: a repeated one with the same `process_id` must be equal to it. */
export function requestHash(request: NewProcess): string {
  const { command, argv, env, workdir, stdin, terminal, timeout, labels, shell, merge } = request;
  const sorted = (map: Readonly<Record<string, string>>) =>
    Object.keys(map)
      .sort()
      .flatMap((key) => [key, map[key]!]);
  const lists = [[command, workdir, shell], argv, sorted(env), sorted(labels)];
  const size = terminal && [terminal.columns, terminal.rows];
  // The texts are not in the JSON, which has six characters for a control character: a megabyte of them takes 30 ms.
  const shape = [stdin, size ?? null, timeout, merge, lists.map((list) => list.map(({ length }) => length))];
  const hash = createHash('sha256').update(JSON.stringify(shape));
  for (const list of lists) hash.update(list.join(''));
  return hash.digest('base64url');
}

/** The environment is not recorded: it may have secrets. */
export function newRecord(request: NewProcess, id: string, order: number, now: number): ProcessRecord {
  const { command, argv, workdir, labels, terminal, stdin } = request;
  return {
    version: 1,
    process_id: id,
    order,
    command: command.slice(0, SHOWN_COMMAND),
    argv: shownArguments(argv),
    workdir,
    labels,
    ...(terminal && { terminal }),
    stdin,
    request: requestHash(request),
    started_at: Math.floor(now / 1000),
  };
}

function shownArguments(argv: readonly string[]): string[] {
  let room = SHOWN_COMMAND;
  const shown: string[] = [];
  for (const each of argv) {
    if (room <= 0) break;
    shown.push(each.slice(0, room));
    room -= each.length + 1;
  }
  return shown;
}

/** Whether a stored value is a record that this server can use. */
export function isRecord(value: unknown, id: string): value is ProcessRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { version, process_id, order, command, argv, workdir, labels, request, started_at, end } =
    value as Partial<ProcessRecord>;
  return (
    version === 1 &&
    process_id === id &&
    Number.isSafeInteger(order) &&
    typeof command === 'string' &&
    Array.isArray(argv) &&
    typeof workdir === 'string' &&
    typeof labels === 'object' &&
    (end === undefined || (typeof end === 'object' && typeof end.reason === 'string')) &&
    typeof request === 'string' &&
    Number.isSafeInteger(started_at)
  );
}

/** What a process has at a moment besides its record. */
export interface Progress {
  sandboxId: string;
  output: { first: number; next: number };
  inputNext: number;
  stdinOpen: boolean;
  terminal: TerminalSize | undefined;
}

/** The process in the form of the API. */
export function shownProcess(record: ProcessRecord, progress: Progress): Process {
  const { process_id, command, argv, workdir, labels, started_at, ended_at = 0, end } = record;
  return {
    sandbox_id: progress.sandboxId,
    process_id,
    command,
    argv,
    workdir,
    labels,
    started_at,
    ended_at,
    ...(end && { end }),
    output_next: progress.output.next,
    output_first: progress.output.first,
    input_next: progress.inputNext,
    stdin_open: progress.stdinOpen,
    ...(progress.terminal && { terminal: progress.terminal }),
  };
}
