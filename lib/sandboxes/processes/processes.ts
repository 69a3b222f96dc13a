import type { ListProcessesRequest, Process } from '../../contract/messages.ts';
import { cursorOf, fitting, scopeOf, tokenOf } from '../../paging.ts';
import type { Processes } from '../../process-services.ts';
import type { SandboxContext } from '../context.ts';
import { waitPort } from '../ports/wait-port.ts';
import { attachProcess } from './attach-process.ts';
import type { LiveProcess } from './live-process.ts';
import { processesOf, readOutput, watchProcess } from './read-output.ts';
import { startProcess } from './start-process.ts';
import { writeInput } from './write-input.ts';
import { execOrYield } from './yielding.ts';

/** All operations on processes. */
export function createProcesses(context: SandboxContext): Processes {
  const find = async (sandboxId: string, id: string) => (await processesOf(sandboxId, context)).get(id);
  return {
    start: (request, signal, keep) => startProcess(request, signal, keep, context),
    get: async (sandboxId, id) => (await find(sandboxId, id)).view(),
    list: (request) => listProcesses(request, context),
    delete: async (sandboxId, id) => (await processesOf(sandboxId, context)).remove(id),
    signal: async (sandboxId, id, signal) => {
      const process = await find(sandboxId, id);
      await process.signal(signal);
      return process.view();
    },
    resize: async (sandboxId, id, size) => (await find(sandboxId, id)).resize(size),
    read: (request, signal) => readOutput(request, signal, context),
    watch: (request, signal) => watchProcess(request, signal, context),
    attach: (request, input) => attachProcess(request, input, context),
    write: (request, content, signal) => writeInput(request, content, signal, context),
    waitPort: (request, signal) => waitPort(request, signal, context),
    execOrYield: (request, signal, keep, take) => execOrYield(request, signal, keep, take, context),
  };
}

async function listProcesses(
  { sandbox_id, labels, running, page_size, page_token }: ListProcessesRequest,
  context: SandboxContext,
): Promise<{ processes: Process[]; next_page_token: string }> {
  const wanted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const scope = scopeOf('processes', [sandbox_id, wanted, running]);
  const cursor = cursorOf(scope, page_token);
  const before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
  const matches = (process: LiveProcess) =>
    process.order < before &&
    (!running || process.end === undefined) &&
    wanted.every(([key, value]) => Object.hasOwn(process.labels, key) && process.labels[key] === value);
  const found = (await processesOf(sandbox_id, context)).all.filter(matches).reverse();
  const processes = fitting(found.slice(0, page_size).map((process) => process.view()));
  const isLast = processes.length === found.length;
  return { processes, next_page_token: isLast ? '' : tokenOf(scope, String(found[processes.length - 1]!.order)) };
}
