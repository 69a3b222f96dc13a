import type { RootFileSystem } from '../root-file-system.ts';
import type { SandboxSpec } from '../runtime.ts';
import { bwrapArguments, encodeArguments, type SandboxView, type SystemView } from './arguments.ts';

/** What sandboxes see of the host beside its system, at paths that their uids can reach. */
export interface Sources {
  /** The file system of a sandbox with an image. */
  rootOf?(rootfs: RootFileSystem): Promise<RootFileSystem & { path: string }>;
  /** Host paths that a sandbox is to see. */
  sourcesOf?(paths: readonly string[]): Promise<{ path: string; source: string }[]>;
}

/** The encoded arguments of one sandbox. `isOfAll`: it sees nothing of the host but what all sandboxes see. */
export async function argumentsOf(
  { workspace, home, workspacePath, readOnlyPaths = [], rootfs }: SandboxSpec,
  view: SystemView,
  own: Pick<SandboxView, 'agentDir' | 'shown'>,
  sources: Sources,
): Promise<{ args: string; isOfAll: boolean }> {
  const image = rootfs && (await sources.rootOf?.(rootfs));
  if (rootfs && !image) throw new Error('a sandbox with an image never runs without it');
  const readOnly = readOnlyPaths.length === 0 ? [] : await sources.sourcesOf?.(readOnlyPaths);
  if (!readOnly) throw new Error('a sandbox with paths of the host never runs without them');
  const args = bwrapArguments(view, { workspace, home, ...own, rootfs: image, readOnly, workspacePath });
  return { args: encodeArguments(args), isOfAll: !image && readOnly.length === 0 };
}
