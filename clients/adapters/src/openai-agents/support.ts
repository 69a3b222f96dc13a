import { realpath } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import {
  type Manifest,
  type SandboxArchiveLimits,
  SandboxConfigurationError,
  type SandboxError,
  SandboxExecTransportError,
  SandboxLifecycleError,
  SandboxProviderError,
  SandboxUnsupportedFeatureError,
  SandboxWorkspaceReadNotFoundError,
} from '@openai/agents/sandbox';
import { sandboxPathGrantHostPath } from '@openai/agents-core/sandbox/internal';
import { ConnectionFailedError, FailedPreconditionError, NotFoundError, PaddockError } from 'paddock-sandbox';

/** The result of a call of the service, whose errors become those of the SDK. */
export async function failing<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof PaddockError ? sandboxError(error) : error;
  }
}

function sandboxError(error: PaddockError): SandboxError {
  const { message, code, operation } = error;
  const details = { provider: 'paddock', code, operation };
  const found = new (classOf(error))(message, details);
  found.cause = error;
  return found;
}

function classOf(error: PaddockError): new (message: string, details: Record<string, unknown>) => SandboxError {
  if (error instanceof NotFoundError && error.resourceType === 'file') return SandboxWorkspaceReadNotFoundError;
  if (error instanceof ConnectionFailedError) return SandboxExecTransportError;
  if (error instanceof FailedPreconditionError) return SandboxLifecycleError;
  return SandboxProviderError;
}

export const unsupported = (feature: string): SandboxUnsupportedFeatureError =>
  new SandboxUnsupportedFeatureError(`paddock does not support ${feature}`, { provider: 'paddock', feature });

export function assertNoUser(runAs: string | undefined): void {
  if (runAs) throw unsupported('runAs: each sandbox has one user');
}

export function assertNoArchiveLimits(limits: SandboxArchiveLimits | null | undefined): void {
  if (limits) throw unsupported('archiveLimits: archives are unpacked by the server, within its own limits');
}

/** Refuses what would silently be left out. */
export function assertSupported(manifest: Manifest): void {
  if (manifest.root !== '/workspace') throw unsupported(`the root ${manifest.root}: it is /workspace`);
  if (manifest.users.length + manifest.groups.length > 0) throw unsupported('users and groups');
  if (manifest.mountTargets().length > 0) throw unsupported('mounts');
}

/** A local path of a manifest: in the working directory, or in a path grant of the manifest. */
export async function granted(source: string, manifest: Manifest): Promise<string> {
  const path = await realpath(source);
  const roots = [process.cwd(), ...manifest.extraPathGrants.map(sandboxPathGrantHostPath)];
  for (const root of roots) {
    const below = relative(await realpath(root), path);
    if (!below.startsWith('..') && !isAbsolute(below)) return path;
  }
  throw new SandboxConfigurationError(`${source} is not in the working directory, nor in a path grant of the manifest`);
}
