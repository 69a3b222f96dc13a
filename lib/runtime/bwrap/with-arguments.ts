import type { RootFileSystem } from '../root-file-system.ts';
import type { SandboxSpec } from '../runtime.ts';
import { bwrapArguments, encodeArguments, type SandboxView, type SystemView } from './arguments.ts';
import type { Taken } from './host-paths.ts';

const NOTHING: Taken = { sources: [], release: async () => undefined };

/** What sandboxes see of the host beside its system, at paths that their uids can reach. */
export interface Sources {
  /** The file system of a sandbox with an image. */
  rootOf?(rootfs: RootFileSystem): Promise<RootFileSystem & { path: string }>;
  /** Host paths that a sandbox is to see, until it has started. */
  takePaths?(paths: readonly string[]): Promise<Taken>;
}

/**
 * Runs `start` with the encoded arguments of one sandbox. `isOfAll`: it sees nothing of the host but what all sandboxes see.
 * What is at its arguments' paths stays there until `start` ends.
 */
export async function withArguments<T>(
  { workspace, home, workspacePath, readOnlyPaths = [], rootfs }: SandboxSpec,
  view: SystemView,
  own: Pick<SandboxView, 'agentDir' | 'shown'>,
  sources: Sources,
  start: (args: string, isOfAll: boolean) => Promise<T>,
): Promise<T> {
  const image = rootfs && (await sources.rootOf?.(rootfs));
  if (rootfs && !image) throw new Error('a sandbox with an image never runs without it');
  const taken = readOnlyPaths.length === 0 ? NOTHING : await sources.takePaths?.(readOnlyPaths);
  if (!taken) throw new Error('a sandbox with paths of the host never runs without them');
  try {
    const readOnly = taken.sources;
    const args = bwrapArguments(view, { workspace, home, ...own, rootfs: image, readOnly, workspacePath });
    return await start(encodeArguments(args), !image && readOnly.length === 0);
  } finally {
    void taken.release();
  }
}
