import { NotFoundError, type Paddock, Process, type ProcessInfo } from 'paddock-sandbox';
import { CliError } from '../command-line/errors.ts';
import { all } from './all.ts';
import { listed, sandboxIdOf } from './sandboxes.ts';

interface Signal {
  signal: AbortSignal;
}

/** As it is printed and typed: unique on the server. */
export const refOf = ({ sandboxId, id }: Pick<Process, 'sandboxId' | 'id'>): string => `${sandboxId}/${id}`;

/**
 * A process: "SANDBOX/PROCESS", or the id alone, which is looked for in all sandboxes. Of ids the beginning is enough.
 * Ambiguous ones are refused.
 */
export async function processOf(paddock: Paddock, given: string, { signal }: Signal): Promise<Process> {
  const slash = given.indexOf('/');
  if (slash < 0) return only(given, await everywhere(paddock, given, { signal }), paddock);
  const sandboxId = await sandboxIdOf(paddock, given.slice(0, slash), { signal });
  const id = given.slice(slash + 1);
  return only(given, await matching(paddock, sandboxId, id, { signal }), paddock);
}

/** A process, or the only one that runs in a sandbox. */
export async function attachableOf(paddock: Paddock, given: string, { signal }: Signal): Promise<Process> {
  const slash = given.indexOf('/');
  const found = slash < 0 ? await everywhere(paddock, given, { signal }) : [];
  if (slash >= 0 || found.length > 0) return processOf(paddock, given, { signal });
  const sandboxId = await sandboxIdOf(paddock, given, { signal }).catch(() => {
    throw new CliError(`there is no process or sandbox ${JSON.stringify(given)}: see paddock ps`);
  });
  const running = await processesOf(paddock, sandboxId, { signal, running: true });
  if (running.length === 0)
    throw new CliError(`no process runs in ${given}: start one with paddock exec -it ${given} COMMAND`);
  return only(given, running, paddock);
}

function only(given: string, found: readonly ProcessInfo[], paddock: Paddock): Process {
  if (found.length > 1) {
    const some = found.slice(0, 5).map(({ sandboxId, processId }) => `${sandboxId}/${processId}`);
    throw new CliError(`${JSON.stringify(given)} is ambiguous: ${some.join(', ')}${found.length > 5 ? ', …' : ''}`);
  }
  if (found[0] === undefined) throw new CliError(`there is no process ${JSON.stringify(given)}: see paddock ps --all`);
  return new Process(paddock.api, found[0]);
}

async function everywhere(paddock: Paddock, id: string, { signal }: Signal): Promise<ProcessInfo[]> {
  const found: ProcessInfo[] = [];
  for await (const sandbox of listed(paddock, { signal })) {
    found.push(...(await matching(paddock, sandbox.id, id, { signal }).catch(gone)));
  }
  const exact = found.filter(({ processId }) => processId === id);
  return exact.length > 0 ? exact : found;
}

/** The sandbox was destroyed meanwhile. */
export function gone(error: unknown): never[] {
  if (error instanceof NotFoundError && error.resourceType === 'sandbox') return [];
  throw error;
}

/** The process with this id, or all whose ids begin so. */
async function matching(paddock: Paddock, sandboxId: string, id: string, { signal }: Signal): Promise<ProcessInfo[]> {
  if (id === '') throw new CliError('the id of the process is empty');
  const all = await processesOf(paddock, sandboxId, { signal });
  const exact = all.filter(({ processId }) => processId === id);
  return exact.length > 0 ? exact : all.filter(({ processId }) => processId.startsWith(id));
}

/** The processes of a sandbox, without reading the sandbox itself. */
export function processesOf(
  paddock: Paddock,
  sandboxId: string,
  { signal, ...filter }: Signal & { running?: boolean; labels?: Record<string, string> },
): Promise<ProcessInfo[]> {
  return all(paddock.api.listProcesses({ ...filter, sandboxId }, { signal }));
}
