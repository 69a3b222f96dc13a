import { ServiceError } from '../errors.ts';
import type { OwnerLimitSource } from '../limits/stored-limits.ts';
import type { Reserve } from '../linux/disk-room.ts';
import type { Log } from '../log.ts';
import type { CodebaseTable } from '../metadata/metadata.ts';
import type { Codebases } from '../services.ts';
import type { ThreadEntry } from '../threads/thread-entry.ts';
import type { Transfers } from '../transfers.ts';
import { StoredCodebases } from './codebases.ts';
import { spreadBelow } from './commits/spread.ts';
import type { CodebaseThreads, CodebaseUsers } from './options.ts';
import type { MakePlan } from './plan.ts';
import type { CodebaseLimits } from './quota.ts';
import { type CodebaseFormat, requireFormat } from './require-format.ts';
import { StoresInThreads } from './tree/stores/stores-in-threads.ts';
import { TreeCodebases } from './tree/tree-codebases.ts';

/** What a server has of its codebases, however they are stored. */
export interface OpenedCodebases {
  readonly service: Codebases;
  readonly bases: SandboxBases;
  /** Call once, before the first call on files. */
  connect(users: CodebaseUsers): void;
  /** Call when the sandboxes are loaded: ends what a crash interrupted of commits. */
  finishCommits(): Promise<void>;
  /** Call when the server answers: work in the background, until `close`. */
  goOn(): void;
  close(): Promise<void>;
}

/** The codebases as sandboxes see them. */
export interface SandboxBases {
  /** Host directory of the files; callers only read it. FAILED_PRECONDITION: there is none, and no sandbox can be on it. */
  filesPath(id: string): string;
  /** See `TreeCommits.commit`. */
  apply(id: string, plan: MakePlan): Promise<void>;
  /** See `CodebaseTree.finishCommit`. */
  finishCommit(id: string): Promise<void>;
}

interface Options {
  readonly path: string;
  readonly format: CodebaseFormat;
  readonly records: CodebaseTable;
  readonly limits: CodebaseLimits;
  readonly reserve: Reserve;
  readonly owners: OwnerLimitSource;
  readonly transfers: Transfers;
  readonly archives: CodebaseThreads;
  readonly entry: ThreadEntry;
  readonly log: Log;
}

/** Throws an error of one line, without having changed anything, if codebases are stored in another format. */
export async function openCodebases({ format, entry, ...options }: Options): Promise<OpenedCodebases> {
  requireFormat(options.records.values(), format);
  return format === 'tree' ? openTree(options, entry) : openPlain(options);
}

async function openPlain(options: Omit<Options, 'format' | 'entry'>): Promise<OpenedCodebases> {
  const service = await StoredCodebases.open(options);
  void spreadBelow(options.path);
  return {
    service,
    bases: service,
    connect: (users) => service.connect(users),
    finishCommits: () => service.finishCommits(),
    goOn: () => void service.clean().then(() => service.verifier.keep()),
    close: () => service.close(),
  };
}

async function openTree(
  { path, limits, reserve, archives, ...options }: Omit<Options, 'format' | 'entry'>,
  entry: ThreadEntry,
): Promise<OpenedCodebases> {
  const service = await TreeCodebases.open({
    ...{ ...options, path, unzstd: archives.unzstd },
    stores: (keeper) => new StoresInThreads(entry, { path, limits, reserve }, keeper),
  });
  return {
    service,
    bases: noBases,
    connect: (users) => service.connect(users),
    finishCommits: async () => {},
    goOn: () => {},
    close: () => service.close(),
  };
}

const noBases: SandboxBases = {
  filesPath: refuse,
  apply: async () => refuse(),
  finishCommit: async () => {},
};

function refuse(): never {
  throw new ServiceError(
    'FAILED_PRECONDITION',
    'no sandbox can be created on a codebase of this server yet: storage.codebase_format is "tree"',
  );
}
