import type { Rpc } from './define.ts';

/** Bytes of a request that is one message, unless its operation is in the table below. */
const PLAIN = 64 * 1024;
/** For lists of paths, rules, variables or arguments, and for labels. */
const LISTS = 8 * 1024 * 1024;
/** For the content of files and the input of programs. */
const CONTENT = 64 * 1024 * 1024;

/**
 * Maximum bytes of the JSON body of an operation, and of one of its gRPC messages, decompressed. An operation belongs here if
 * its constraints permit more than 64 KiB. Content that REST carries as a raw body or as a form has no such limit.
 */
const LIMITS: { readonly [R in Rpc]?: number } = {
  CreateSandbox: LISTS,
  ListSandboxes: LISTS,
  UpdateSandbox: LISTS,
  Fork: LISTS,
  UpdatePermissions: LISTS,
  UpdateNetwork: LISTS,
  Commit: LISTS,
  Discard: LISTS,
  ListChanges: LISTS,
  ExportChanges: LISTS,
  StartProcess: LISTS,
  ListProcesses: LISTS,
  CreateSession: LISTS,
  SessionExec: LISTS,
  SessionExecStream: LISTS,
  PutSecret: 1024 * 1024,
  Exec: CONTENT,
  ExecStream: CONTENT,
  WriteProcessInput: CONTENT,
  AttachProcess: CONTENT,
  WriteFile: CONTENT,
  ImportFiles: CONTENT,
  UploadFile: CONTENT,
  ImportCodebaseFiles: CONTENT,
  ImportImage: CONTENT,
};

/** Operations whose input counts for `limits.exec_memory_bytes` while they run. */
const IN_EXEC_MEMORY: ReadonlySet<Rpc> = new Set<Rpc>(['Exec', 'ExecStream']);

export function bodyLimit(operation: Rpc | 'Health'): number {
  return operation === 'Health' ? PLAIN : (LIMITS[operation] ?? PLAIN);
}

export function isExecInput(operation: Rpc | 'Health'): boolean {
  return operation !== 'Health' && IN_EXEC_MEMORY.has(operation);
}
