import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Process } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { hostError } from '../../host-error.ts';
import { newId } from '../../ids.ts';
import { errorCode } from '../../linux/errno.ts';
import { OutputLog } from '../../output-log/output-log.ts';
import type { NewProcess } from '../../process-services.ts';
import type { Command } from '../../runtime/runtime.ts';
import type { SandboxContext } from '../context.ts';
import { withDefaults } from '../exec/defaults.ts';
import { commitAfterExec, runnable } from '../exec/exec.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { LiveProcess } from './live-process.ts';
import { newRecord, requestHash } from './process-record.ts';
import type { SandboxProcesses } from './process-table.ts';
import { writeFirstRecord, writeRecord } from './record-file.ts';

const NOT_STORED = 'the process could not be started';

interface Start {
  request: NewProcess;
  /** Complete standard input; absent: as the request says. */
  stdin?: string | Uint8Array;
  /** Milliseconds; undefined: none. */
  timeoutMs: number | undefined;
  /** See `Processes.start`. */
  keep: () => () => void;
}

/** See `Processes.start`. */
export async function startProcess(
  request: NewProcess,
  signal: AbortSignal,
  keep: () => () => void,
  context: SandboxContext,
): Promise<Process> {
  const timeoutMs = request.timeout === 0 ? undefined : request.timeout * 1000;
  return (await runAsProcess({ request, timeoutMs, keep }, signal, context)).view();
}

/** Starts a process, or returns the one that an equal request with its id has started. */
export async function runAsProcess(start: Start, signal: AbortSignal, context: SandboxContext): Promise<LiveProcess> {
  const { request } = start;
  const sandbox = await runnable(request.sandbox_id, signal, context);
  const processes = await context.processes.of(sandbox.id);
  const id = request.process_id || newId('pr');
  // No wait between this and `add`: of equal requests at once the first one starts it.
  const known = processes.find(id);
  if (known !== undefined) {
    const process = await known;
    if (process.request === requestHash(request)) return process;
    throw new ServiceError(
      'ALREADY_EXISTS',
      `process_id ${JSON.stringify(id)} is in use by a process of another request`,
    );
  }
  return processes.add(id, (order) => launch(start, { id, order }, sandbox, processes, context));
}

async function launch(
  { request, stdin = '', timeoutMs, keep }: Start,
  { id, order }: { id: string; order: number },
  sandbox: LiveSandbox,
  processes: SandboxProcesses,
  context: SandboxContext,
): Promise<LiveProcess> {
  const { clock } = context;
  if (sandbox.status !== 'SANDBOX_RUNNING' || !sandbox.running) throw sandbox.refuse();
  const { command, argv, terminal } = request;
  const abort = new AbortController();
  const started: Command = {
    command,
    ...(argv.length > 0 && { argv }),
    stdin,
    openStdin: request.stdin,
    ...(terminal && { terminal }),
    ...withDefaults(request, sandbox.record),
    merge: request.merge && terminal === undefined,
    timeoutMs,
    signal: abort.signal,
  };
  const record = newRecord(request, id, order, clock.now());
  const dir = join(processes.dir, id);
  const startedAt = Date.now();
  const making = makeLog(dir, processes, record);
  making.catch(() => undefined);
  let running: Awaited<ReturnType<typeof sandbox.running.exec>>;
  try {
    running = await sandbox.running.exec(started);
  } catch (error) {
    await (await making.catch(() => undefined))?.remove();
    throw error;
  }
  let output: OutputLog;
  try {
    output = await making;
  } catch (error) {
    abort.abort();
    throw hostError(error, NOT_STORED);
  }
  sandbox.activity.begin();
  const release = keep();
  const host = {
    sandboxId: sandbox.id,
    stopped: () => sandbox.destroying || sandbox.status === 'SANDBOX_STOPPED',
    now: () => clock.now(),
    denied: async () => (await sandbox.refusals?.since(startedAt)) ?? [],
    store: (ended: object) => storeEnd(dir, ended, context),
    onEnd: () => {
      release();
      sandbox.activity.end(clock.monotonic());
      if (sandbox.record.auto_commit === 'on_exec') void commitAfterExec(sandbox.id, context);
    },
  };
  return new LiveProcess(record, output, host, { command: running, abort });
}

/** False if the end of a process could not be stored. */
async function storeEnd(dir: string, ended: object, { log }: SandboxContext): Promise<boolean> {
  try {
    await writeRecord(dir, ended);
    return true;
  } catch (err) {
    log.warn('the end of a process could not be stored, will retry', { path: dir, err });
    return false;
  }
}

/** The directory, the log and the record of a process; nothing of them if it fails. */
async function makeLog(dir: string, processes: SandboxProcesses, record: object): Promise<OutputLog> {
  const create = () => OutputLog.create(dir, processes.logOptions);
  const output = await create().catch(async (error: unknown) => {
    // Only the first process of a sandbox finds no directory. An earlier process of this id left its own if its removal
    // failed.
    if (errorCode(error) === 'ENOENT') await mkdir(dirname(dir), { recursive: true, mode: 0o700 });
    else if (errorCode(error) === 'EEXIST') await rm(dir, { recursive: true, force: true });
    else throw error;
    return create();
  });
  try {
    await writeFirstRecord(dir, record);
    return output;
  } catch (error) {
    await output.remove();
    throw error;
  }
}
