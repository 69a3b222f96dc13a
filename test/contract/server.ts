import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';

const ROOT = resolve(import.meta.dirname, '../..');
export const BUNDLE = join(ROOT, 'dist/server.mjs');
/** Also in an emulator on a busy machine. */
const READY_MS = 60_000;
const EXIT_MS = 30_000;
const UIDS = 256;

/** A secret of the server's environment: no sandbox may ever see it. */
export const CANARY = 'canary-5f1d7c0a';

export type Sections = Record<string, Record<string, unknown>>;

/** A directory of its own for one server's state and configuration; survives the server, so that a second can take it. */
export class State {
  readonly directory: string;
  /** No other server on this machine uses these host users. */
  readonly uids: { start: number; size: number };

  private constructor(directory: string) {
    this.directory = directory;
    // The name is unique on this machine, so this is as good as unique: 2^22 ranges.
    const hash = [...directory].reduce((sum, char) => (Math.imul(sum, 31) + char.charCodeAt(0)) >>> 0, 7);
    this.uids = { start: 1_000_000 + (hash % 2 ** 22) * UIDS, size: UIDS };
  }

  static async create(): Promise<State> {
    const directory = await mkdtemp(join(tmpdir(), 'paddock-contract-'));
    // The users of sandboxes must get through to the mount; else the server mounts elsewhere.
    await chmod(directory, 0o711);
    return new State(directory);
  }

  async writeConfig(runtime: string, sections: Sections): Promise<string> {
    const base: Sections = {
      server: { grpc_addr: '127.0.0.1:0', http_addr: '127.0.0.1:0' },
      storage: {
        codebase_path: join(this.directory, 'codebases'),
        mount_path: join(this.directory, 'mounts'),
        db_path: join(this.directory, 'metadata.json'),
      },
      // With ready sandboxes there are processes of none. PADDOCK_TEST_READY: their number.
      runtime: { type: runtime, uid_range: this.uids, ready: Number(process.env.PADDOCK_TEST_READY ?? 0) },
    };
    const merged = { ...base };
    for (const [name, values] of Object.entries(sections)) merged[name] = { ...merged[name], ...values };
    const path = join(this.directory, 'server.yaml');
    await writeFile(path, stringify(merged));
    return path;
  }

  /** Outside its own folders the server's things are named by a hash of storage.mount_path. */
  get name(): string {
    return createHash('sha256').update(join(this.directory, 'mounts')).digest('hex').slice(0, 16);
  }

  /** What a server that has ended must not leave: its mounts, processes of its sandboxes, their cgroups. */
  async leftovers(): Promise<string[]> {
    const { name } = this;
    const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
    const own = mounts.filter((line) => line.includes(this.directory) || line.includes(name));
    return [...own, ...this.processes(), ...cgroupsNaming(name)];
  }

  /** Processes that run as one of this server's sandbox users. */
  processes(): string[] {
    const found: string[] = [];
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const status = read(`/proc/${pid}/status`);
      const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1] ?? -1);
      if (uid < this.uids.start || uid >= this.uids.start + this.uids.size || /^State:\s+Z/m.test(status)) continue;
      found.push(`process ${pid} of uid ${uid}: ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`);
    }
    return found;
  }

  remove(): Promise<void> {
    return rm(this.directory, { recursive: true, force: true });
  }
}

export interface StartOptions {
  runtime?: string;
  config?: Sections;
  flags?: string[];
  /** Limit of open files of the process (RLIMIT_NOFILE). */
  maxDescriptors?: number;
  /** Variables of its environment, besides PATH. */
  env?: Record<string, string>;
}

/** The built server as a process of its own. */
export class Server {
  readonly grpcAddress: string;
  readonly httpAddress: string;
  readonly #child: ChildProcess;
  readonly #log: string[];

  private constructor(child: ChildProcess, log: string[], ready: { grpc_addr: string; http_addr: string }) {
    this.#child = child;
    this.#log = log;
    this.grpcAddress = ready.grpc_addr;
    this.httpAddress = ready.http_addr;
  }

  /** Resolves when it said that it is ready; rejects with what it said otherwise. */
  static async start(state: State, options: StartOptions = {}): Promise<Server> {
    assertFreshBundle();
    const config = await state.writeConfig(options.runtime ?? 'bwrap', options.config ?? {});
    const cwd = join(state.directory, 'cwd');
    await mkdir(cwd, { recursive: true });
    const limited = options.maxDescriptors === undefined ? '' : `ulimit -n ${options.maxDescriptors} && `;
    const command = [process.execPath, BUNDLE, '-config', config, ...(options.flags ?? [])];
    const child = spawn('/bin/sh', ['-c', `${limited}exec "$@"`, 'sh', ...command], {
      cwd,
      env: { PATH: process.env.PATH, SERVER_SECRET: CANARY, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const log: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
    const lines = createInterface({ input: child.stdout });
    const ready = await new Promise<{ grpc_addr: string; http_addr: string }>((done, failed) => {
      const timer = setTimeout(() => failed(new Error(`not ready in ${READY_MS} ms:\n${log.join('\n')}`)), READY_MS);
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        failed(new Error(`the server ended (${code ?? signal}) before it was ready:\n${log.join('\n')}`));
      });
      lines.on('line', (line) => {
        log.push(line);
        const entry = line.startsWith('{') ? JSON.parse(line) : {};
        if (entry.msg !== 'ready') return;
        clearTimeout(timer);
        done(entry);
      });
    }).catch((error: unknown) => {
      child.kill('SIGKILL');
      throw error;
    });
    return new Server(child, log, ready);
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get log(): readonly string[] {
    return this.#log;
  }

  /** Resident memory in bytes. */
  rss(): number {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${this.pid}/status`))?.[1] ?? 0) * 1024;
  }

  /** Ends it; resolves with its exit code, or the signal's name. It is killed when it does not end in time. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    if (this.#child.signalCode !== null) return this.#child.signalCode;
    const exited = once(this.#child, 'exit') as Promise<[number | null, string | null]>;
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), EXIT_MS);
    const [code, killedBy] = await exited;
    clearTimeout(timer);
    return code ?? killedBy ?? 'unknown';
  }
}

/** Looks at the three levels a server's cgroups can be at: controller, its own parent, itself. */
function cgroupsNaming(name: string, directory = '/sys/fs/cgroup', depth = 3): string[] {
  return list(directory).flatMap((entry) => {
    const path = join(directory, entry);
    if (entry.includes(name)) return [`cgroup ${path}`];
    return depth > 1 ? cgroupsNaming(name, path, depth - 1) : [];
  });
}

/** Subdirectories; none of one that vanished under our feet. */
function list(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  } catch {
    return [];
  }
}

let isFresh = false;

/** A test against yesterday's bundle proves nothing. Asked once in a process: it looks at each source. */
function assertFreshBundle(): void {
  if (isFresh) return;
  if (!existsSync(BUNDLE)) throw new Error('dist/server.mjs is missing: npm run build');
  const built = statSync(BUNDLE).mtimeMs;
  for (const room of ['adapters', 'handlers', 'lib', 'proto']) {
    for (const name of readdirSync(join(ROOT, room), { recursive: true }) as string[]) {
      if (/\.(ts|proto)$/.test(name) && statSync(join(ROOT, room, name)).mtimeMs > built) {
        throw new Error(`dist/server.mjs is older than ${room}/${name}: npm run build`);
      }
    }
  }
  isFresh = true;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
