import type { ResourceLimits } from '../../contract/messages.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';

/** What is known of a sandbox before it exists. */
export type ReadyKind = Pick<SandboxRecord, 'runtime' | 'image' | 'resources' | 'read_only_paths' | 'workspace_path'>;

interface ServerParts {
  platform: { ownerResources?(ownerId: string): unknown };
  settings: { defaultImage: string };
}

/**
 * The kind of ready sandbox that this one can be. undefined: none, because its owner's sandboxes share limits, because its runtime
 * runs nothing, or because of its image or of further paths that it sees. What a user chose must not run without a sandbox of the user: of bwrap there are those
 * with the host's system only, of Docker those with the server's default image.
 */
export function kindOf(
  { runtime, image, resources, owner_id, read_only_paths, workspace_path }: ReadyKind & Pick<SandboxRecord, 'owner_id'>,
  { platform, settings }: ServerParts,
): ReadyKind | undefined {
  if (read_only_paths !== undefined || workspace_path !== undefined) return undefined;
  const images: Partial<Record<typeof runtime, string>> = { RUNTIME_BWRAP: '', RUNTIME_DOCKER: settings.defaultImage };
  if (images[runtime] !== image || platform.ownerResources?.(owner_id) !== undefined) return undefined;
  return { runtime, image, resources };
}

/** The limits that are set: the cgroups of a sandbox are for certain ones, of any value. */
export const limitsIn = (resources: ResourceLimits) =>
  Object.entries(resources)
    .filter(([, value]) => value !== 0)
    .map(([name]) => name)
    .sort()
    .join();
