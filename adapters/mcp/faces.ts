import { operations, PLAIN_BODY } from '../../handlers/index.ts';
import type { Caller } from './caller.ts';
import { type Place, type Tool, withSandboxId } from './tool.ts';
import { changes } from './tools/changes.ts';
import { editFile } from './tools/edit-file.ts';
import { exec } from './tools/exec.ts';
import { fileGrep } from './tools/file-grep.ts';
import { fileInfo } from './tools/file-info.ts';
import { fileList } from './tools/file-list.ts';
import { processTool } from './tools/process.ts';
import { readFiles } from './tools/read-files.ts';
import { sandboxes } from './tools/sandboxes.ts';
import { sessionExec } from './tools/session-exec.ts';
import { explainAccess, showChanges } from './tools/view.ts';
import { writeFiles } from './tools/write-files.ts';

const common: readonly Tool<Place>[] = [
  exec,
  processTool,
  sessionExec,
  ...readFiles,
  ...writeFiles,
  editFile,
  fileList,
  fileGrep,
  fileInfo,
  explainAccess,
];

/** The tools of one sandbox, which the URL names. In the order in which clients list them. */
const AGENT: readonly Tool<Place>[] = [...common, showChanges];

/** The tools of an owner: sandboxes, their changes, and the tools of an agent, with the sandbox as an argument. */
const ORCHESTRATOR: readonly Tool[] = [...sandboxes, ...changes, ...common.map(withSandboxId)];

/** Which tools a client gets: those of an agent in one sandbox, or (undefined) those of an owner. */
export function toolsOf(sandbox_id: string | undefined, caller: Caller) {
  const bind = <Where>(tools: readonly Tool<Where>[], where: Where) =>
    tools.map(({ run, ...listed }) => ({ ...listed, run: (args: Record<string, unknown>) => run(args, where) }));
  return sandbox_id === undefined ? bind(ORCHESTRATOR, { caller }) : bind(AGENT, { caller, sandbox_id });
}

/** Bytes of a message that calls the tool of this name; without such a tool, of any other message. */
export function callLimit(name: unknown): number {
  const called = [...AGENT, ...ORCHESTRATOR].find((tool) => tool.name === name);
  return operations.find(({ operation }) => operation === called?.operation)?.maxBody ?? PLAIN_BODY;
}
