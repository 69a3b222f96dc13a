import { readFile as readLocal } from 'node:fs/promises';
import type { Editor } from '@openai/agents';
import {
  type Entry,
  type ExecCommandArgs,
  type ExposedPortEndpoint,
  type ListDirectoryArgs,
  type Manifest,
  type MaterializeEntryArgs,
  type ReadFileArgs,
  type SandboxArchiveLimits,
  type SandboxDirectoryEntry,
  type SandboxExecResult,
  SandboxExposedPortUnavailableError,
  SandboxPtySessionNotFoundError,
  type SandboxSession,
  type SandboxSessionState,
  type ViewImageArgs,
  type WorkspaceArchiveOptions,
  WorkspacePathPolicy,
  type WriteStdinArgs,
} from '@openai/agents/sandbox';
import {
  formatExecResponse,
  imageOutputFromBytes,
  MAX_VIEW_IMAGE_BYTES,
  mergeManifestDelta,
  mergeManifestEntryDelta,
  truncateOutput,
} from '@openai/agents-core/sandbox/internal';
import { NotFoundError, type Sandbox } from 'paddock-sandbox';
import { RunningCommand } from '../shared/command.ts';
import { readBeginning } from '../shared/files.ts';
import { destroy } from '../shared/ownership.ts';
import { closeLink, portLink } from '../shared/ports.ts';
import { editorOf } from './editor.ts';
import { assertNoArchiveLimits, assertNoUser, assertSupported, failing, granted, unsupported } from './support.ts';

const ROOT = '/workspace';
const YIELD_MS = { exec: 10_000, poll: 250 };

export interface PaddockState extends SandboxSessionState {
  sandboxId: string;
  environment: Record<string, string>;
}

export class PaddockSession implements SandboxSession<PaddockState> {
  readonly sandbox: Sandbox;
  state: PaddockState;
  readonly #commands = new Map<number, RunningCommand>();
  #lastId = 0;

  constructor(sandbox: Sandbox, state: PaddockState) {
    this.sandbox = sandbox;
    this.state = state;
  }

  async running(): Promise<boolean> {
    return (await failing(this.sandbox.refresh())).status === 'running';
  }

  async start(): Promise<void> {
    if (!(await this.running())) await failing(this.sandbox.resume());
  }

  /** Kills all commands, and removes the sandbox with what was not committed. */
  async delete(): Promise<void> {
    await failing(destroy(this.sandbox)).catch((error: unknown) => {
      if (!((error as Error).cause instanceof NotFoundError)) throw error;
    });
  }

  close(): Promise<void> {
    return this.delete();
  }

  /** A server in the sandbox, for whoever has the address. Its URL must be one without a path, as the SDK makes it. */
  async resolveExposedPort(port: number): Promise<ExposedPortEndpoint> {
    const url = await failing(portLink(this.sandbox, port));
    if (url.pathname !== '/') {
      await failing(closeLink(this.sandbox, port));
      throw new SandboxExposedPortUnavailableError(
        `the URL of port ${port} would have a path, which the SDK does not allow: the server needs server.preview_domain`,
        { provider: 'paddock', port },
      );
    }
    const tls = url.protocol === 'https:';
    return { host: url.hostname, port: Number(url.port) || (tls ? 443 : 80), tls, query: url.search.slice(1) };
  }

  supportsPty(): boolean {
    return true;
  }

  /** Runs a command until it ends, or for `yieldTimeMs`: it then goes on, and `writeStdin` has the rest of its output. */
  async exec(args: ExecCommandArgs): Promise<SandboxExecResult> {
    const { cmd, workdir, shell, login, tty, yieldTimeMs = YIELD_MS.exec, maxOutputTokens, runAs } = args;
    assertNoUser(runAs);
    // Only a shell that is named is known to take -l.
    const command = shell && (login ?? true) ? [shell, '-lc', cmd] : cmd;
    const options = { workdir: workdir ?? ROOT, shell: typeof command === 'string' ? shell : undefined };
    const terminal = tty ? { columns: 80, rows: 24 } : undefined;
    const process = await failing(this.sandbox.start(command, { ...options, terminal }));
    const running = new RunningCommand(process, terminal !== undefined);
    try {
      return await this.#answer(running, yieldTimeMs, maxOutputTokens);
    } catch (error) {
      // Nobody knows its session ID.
      await process.delete().catch(() => undefined);
      throw error;
    }
  }

  async execCommand(args: ExecCommandArgs): Promise<string> {
    return formatted(await this.exec(args));
  }

  async writeStdin({ sessionId, chars, yieldTimeMs, maxOutputTokens }: WriteStdinArgs): Promise<string> {
    const running = this.#commands.get(sessionId);
    if (running === undefined) throw new SandboxPtySessionNotFoundError(`no command has the session ID ${sessionId}`);
    if (chars) {
      if (!running.takesInput) throw unsupported('input of commands without tty=true');
      await failing(running.process.write(chars));
    }
    const result = await this.#answer(running, yieldTimeMs ?? YIELD_MS.poll, maxOutputTokens, sessionId);
    return formatted(result);
  }

  async #answer(
    running: RunningCommand,
    yieldTimeMs: number,
    maxOutputTokens: number | undefined,
    sessionId = ++this.#lastId,
  ): Promise<SandboxExecResult> {
    const answer = await failing(running.read({ ms: Math.max(yieldTimeMs, YIELD_MS.poll) }));
    const { stdout, stderr, seconds, end } = answer;
    const exitCode = end?.exitCode;
    const { text, originalTokenCount } = truncateOutput(answer.output, maxOutputTokens);
    if (exitCode === undefined) this.#commands.set(sessionId, running);
    else this.#commands.delete(sessionId);
    return {
      stdout,
      stderr,
      output: text,
      wallTimeSeconds: seconds,
      ...(exitCode === undefined ? { sessionId } : { exitCode }),
      ...(originalTokenCount !== undefined && { originalTokenCount }),
    };
  }

  #path(path: string): string {
    return new WorkspacePathPolicy({ root: ROOT }).resolve(path).workspaceRelativePath ?? '';
  }

  async readFile({ path, maxBytes, runAs }: ReadFileArgs): Promise<Uint8Array> {
    assertNoUser(runAs);
    const at = this.#path(path);
    return failing(maxBytes === undefined ? this.sandbox.files.read(at) : readBeginning(this.sandbox, at, maxBytes));
  }

  async viewImage({ path, runAs }: ViewImageArgs) {
    assertNoUser(runAs);
    // A larger one is refused by its first bytes, without the rest.
    return imageOutputFromBytes(path, await this.readFile({ path, maxBytes: MAX_VIEW_IMAGE_BYTES + 1 }));
  }

  async listDir({ path, runAs }: ListDirectoryArgs): Promise<SandboxDirectoryEntry[]> {
    assertNoUser(runAs);
    const files = await failing(Array.fromAsync(this.sandbox.files.list(this.#path(path))));
    return files.map((file) => ({
      name: file.path.slice(file.path.lastIndexOf('/') + 1),
      path: `${ROOT}/${file.path}`,
      type: file.type === 'directory' ? 'dir' : file.type === 'file' ? 'file' : 'other',
    }));
  }

  async pathExists(path: string, runAs?: string): Promise<boolean> {
    assertNoUser(runAs);
    return this.#path(path) === '' || failing(this.sandbox.files.exists(this.#path(path)));
  }

  async directoryExists(path: string, runAs?: string): Promise<boolean> {
    if (!(await this.pathExists(path, runAs))) return false;
    return (await failing(this.sandbox.files.stat(this.#path(path)))).type === 'directory';
  }

  createEditor(runAs?: string): Editor {
    assertNoUser(runAs);
    return editorOf(this.sandbox, (path) => this.#path(path));
  }

  async materializeEntry({ path, entry, runAs }: MaterializeEntryArgs): Promise<void> {
    assertNoUser(runAs);
    await this.#place(this.#path(path), entry, this.state.manifest);
    this.state.manifest = mergeManifestEntryDelta(this.state.manifest, this.#path(path), entry);
  }

  async applyManifest(manifest: Manifest, runAs?: string): Promise<void> {
    assertNoUser(runAs);
    assertSupported(manifest);
    const environment = await manifest.resolveEnvironment();
    const news = Object.entries(environment).some(([name, value]) => this.state.environment[name] !== value);
    this.state.environment = { ...this.state.environment, ...environment };
    if (news) await failing(this.sandbox.update({ env: environment }));
    for (const [path, entry] of Object.entries(manifest.validatedEntries())) {
      await this.#place(this.#path(path), entry, manifest);
    }
    this.state.manifest = mergeManifestDelta(this.state.manifest, manifest);
  }

  async #place(path: string, entry: Entry, manifest: Manifest): Promise<void> {
    const files = this.sandbox.files.asOwner();
    if (entry.type === 'file') await failing(files.write(path, entry.content as string | Uint8Array));
    else if (entry.type === 'local_file') {
      await failing(files.write(path, await readLocal(await granted(entry.src as string, manifest))));
    } else if (entry.type === 'local_dir' || entry.type === 'dir') {
      if (path !== '') await failing(files.mkdir(path, { parents: true }));
      if (entry.type === 'local_dir') {
        await failing(files.upload(await granted(entry.src as string, manifest), path));
      } else {
        const children = (entry.children ?? {}) as Record<string, Entry>;
        for (const [name, child] of Object.entries(children)) {
          await this.#place(this.#path(path === '' ? name : `${path}/${name}`), child, manifest);
        }
      }
    } else throw unsupported(`manifest entries of type ${entry.type}`);
  }

  /** A tar archive of the workspace, with what the rules hide. */
  async persistWorkspace(): Promise<Uint8Array> {
    if (this.state.manifest.ephemeralPersistencePaths().size > 0)
      throw unsupported('archives without ephemeral entries');
    const archive = await failing(this.sandbox.files.asOwner().download());
    return new Uint8Array(await new Response(archive).arrayBuffer());
  }

  setArchiveLimits(limits?: SandboxArchiveLimits | null): void {
    assertNoArchiveLimits(limits);
  }

  /** All or nothing. Refuses paths and symlinks that lead out of the workspace. */
  async hydrateWorkspace(
    data: string | ArrayBuffer | Uint8Array,
    { archiveLimits }: WorkspaceArchiveOptions = {},
  ): Promise<void> {
    assertNoArchiveLimits(archiveLimits);
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data);
    await failing(this.sandbox.files.asOwner().upload(bytes));
  }
}

const formatted = ({ exitCode, ...result }: SandboxExecResult): string =>
  formatExecResponse({ ...result, ...(exitCode != null && { exitCode }) });
