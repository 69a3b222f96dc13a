/**
 * A provider for ComputeSDK (computesdk 4): `compute.setConfig({ provider: paddock({ url, key }) })`. Presets and rules
 * in the settings are those of the client.
 */
import { type CommandResult, defineProvider, type RunCommandOptions } from '@computesdk/provider';
import { type CreateOptions, NotFoundError, Paddock, type Sandbox, type Settings } from 'paddock-sandbox';
import { runToEnd } from './shared/command.ts';
import { isInWorkspace, list, readBytes, removeFile, stat, writeBytes } from './shared/files.ts';
import { destroy, ownership } from './shared/ownership.ts';
import { portLink } from './shared/ports.ts';

export interface PaddockConfig extends Settings {
  /** Of every new sandbox: rules, image, limits, network. */
  sandbox?: Omit<CreateOptions, 'signal'>;
}

const LABEL = 'computesdk';
/** The sandboxes that this program made, which know whether their codebase ends with them. */
const made = new Map<string, Sandbox>();

const serverOf = ({ sandbox: _, ...settings }: PaddockConfig): Paddock => new Paddock(settings);

async function create(config: PaddockConfig, options: Record<string, unknown> = {}) {
  const { envs, metadata, name, image, snapshotId, templateId, timeout, signal, directory } = options;
  const refused = Object.entries({ snapshotId, templateId, directory }).filter(([, value]) => value !== undefined);
  if (refused.length > 0) throw new Error(`paddock does not support ${refused.map(([key]) => key).join(', ')}`);
  const given = config.sandbox ?? {};
  const labels = Object.entries((metadata ?? {}) as Record<string, unknown>).map(([key, value]) => [
    key,
    String(value),
  ]);
  const sandbox = await serverOf(config).sandboxes.create({
    ...given,
    ...(name !== undefined && { name: String(name) }),
    ...(image !== undefined && { image: String(image) }),
    ...(timeout !== undefined && { expiresIn: wholeSeconds(Number(timeout)) }),
    env: { ...given.env, ...(envs as Record<string, string> | undefined) },
    labels: { ...given.labels, ...Object.fromEntries(labels), [LABEL]: 'true', ...ownership(given) },
    signal: signal as AbortSignal | undefined,
  });
  made.set(sandbox.id, sandbox);
  return { sandbox, sandboxId: sandbox.id };
}

async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

/** The service counts in seconds. */
const wholeSeconds = (ms: number) => `${Math.ceil(ms / 1000)}s` as const;

async function runCommand(sandbox: Sandbox, command: string, options: RunCommandOptions = {}): Promise<CommandResult> {
  const { cwd: workdir, env, timeout: ms, background, onStdout, onStderr } = options;
  const timeout = ms === undefined ? undefined : wholeSeconds(ms);
  if (background) {
    await sandbox.start(command, { workdir, env, timeout });
    return { stdout: '', stderr: '', exitCode: 0, durationMs: 0 };
  }
  const { stdout, stderr, end } = await runToEnd(sandbox, command, {
    workdir,
    env,
    timeout,
    onText: (stream, text) => (stream === 'stdout' ? onStdout : onStderr)?.(text),
  });
  if (end.reason === 'timeout') throw new Error(`the command was killed after ${ms} ms: ${command}`);
  return { stdout, stderr, exitCode: end.exitCode, durationMs: end.durationMs };
}

export const paddock = defineProvider<Sandbox, PaddockConfig>({
  name: 'paddock',
  methods: {
    sandbox: {
      create,
      getById: async (config, sandboxId) => {
        const sandbox = await orNull(serverOf(config).sandboxes.get(sandboxId));
        return sandbox && { sandbox, sandboxId };
      },
      list: async (config) => {
        const server = serverOf(config);
        const found = [];
        for await (const sandbox of server.sandboxes.list({ labels: { [LABEL]: 'true' } })) {
          found.push({ sandbox, sandboxId: sandbox.id });
        }
        return found;
      },
      destroy: async (config, sandboxId) => {
        const sandbox = made.get(sandboxId) ?? (await orNull(serverOf(config).sandboxes.get(sandboxId)));
        if (sandbox) await orNull(destroy(sandbox));
        made.delete(sandboxId);
      },
      runCommand,
      streamCommand: runCommand,
      getInfo: async (sandbox) => {
        const info = await sandbox.refresh();
        return {
          id: info.id,
          provider: 'paddock',
          status: info.status === 'pending' ? 'error' : info.status,
          createdAt: info.createdAt,
          timeout: Math.max((info.expiresAt?.getTime() ?? 0) - info.createdAt.getTime(), 0),
          metadata: info.labels,
        };
      },
      getUrl: async (sandbox, { port, protocol }) => (await portLink(sandbox, port, protocol)).href,
      filesystem: {
        readFile: async (sandbox, path) => new TextDecoder().decode(await readBytes(sandbox, path)),
        writeFile: (sandbox, path, content) => writeBytes(sandbox, path, new TextEncoder().encode(content)),
        mkdir: async (sandbox, path) => {
          if (isInWorkspace(path)) await sandbox.files.mkdir(path, { parents: true });
          else await sandbox.run(['mkdir', '-p', '--', path], { check: true });
        },
        readdir: async (sandbox, path) =>
          (await list(sandbox, path)).map(({ name, kind, size }) => ({
            name,
            type: kind === 'directory' ? 'directory' : 'file',
            ...(size !== undefined && { size }),
          })),
        exists: async (sandbox, path) => (await sandbox.run(['test', '-e', path])).ok,
        remove: async (sandbox, path) => {
          const { kind } = await stat(sandbox, path);
          if (kind !== 'directory') await removeFile(sandbox, path);
          else await sandbox.run(['rm', '-rf', '--', path], { check: true });
        },
      },
    },
  },
});
