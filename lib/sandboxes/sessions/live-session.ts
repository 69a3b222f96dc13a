import type { Session } from '../../contract/messages.ts';
import { SandboxEnded, ServiceError } from '../../errors.ts';
import type {
  CommandEvent,
  OpenShell,
  RunningSandbox,
  RunningShell,
  ShellCommand,
  ShellExecution,
} from '../../runtime/runtime.ts';
import type { SessionExecution } from '../../session-services.ts';
import { CommandTurns } from './turns.ts';

export interface NewSession {
  id: string;
  sandboxId: string;
  ownerId: string;
  /** The life of the sandbox that the session belongs to. */
  running: RunningSandbox;
  /** What each of its shells starts with. */
  around: Omit<OpenShell, 'signal'>;
  /** Unix time in seconds. */
  now: () => number;
  /** Called once, when the session has ended. */
  onClosed: (session: LiveSession) => void;
}

/**
 * One session, from its first shell to its end. A shell that the server killed, after a timeout or for a client that
 * disconnected, or lost by an error of its own, is replaced by a new one; any other end of the shell is the session's.
 */
export class LiveSession {
  readonly id: string;
  readonly sandboxId: string;
  readonly ownerId: string;
  readonly #parts: NewSession;
  readonly #createdAt: number;
  readonly #turns = new CommandTurns();
  readonly #ending = new AbortController();
  #shell: RunningShell | undefined;
  #path: string;
  #opening: Promise<RunningShell> | undefined;
  /** The state was lost since the last command that was given to a shell. */
  #reset = false;
  #closed: { at: number; reason: string } | undefined;

  constructor(parts: NewSession, shell: RunningShell) {
    this.#parts = parts;
    this.id = parts.id;
    this.sandboxId = parts.sandboxId;
    this.ownerId = parts.ownerId;
    this.#createdAt = parts.now();
    this.#path = shell.path;
    this.#use(shell);
  }

  /** Unix time in seconds; undefined while it is active. */
  get closedAt(): number | undefined {
    return this.#closed?.at;
  }

  view(): Session {
    return {
      id: this.id,
      sandbox_id: this.sandboxId,
      status: this.#closed ? 'SESSION_CLOSED' : 'SESSION_ACTIVE',
      shell: this.#path,
      created_at: this.#createdAt,
      closed_at: this.#closed?.at ?? 0,
      status_reason: this.#closed?.reason ?? '',
    };
  }

  /** Throws FAILED_PRECONDITION once it has ended. */
  requireActive(): void {
    if (!this.#closed) return;
    throw new ServiceError('FAILED_PRECONDITION', `session ${this.id} has ended: ${this.#closed.reason}`);
  }

  /** Runs a command after the earlier ones. */
  async exec(command: ShellCommand): Promise<SessionExecution> {
    this.requireActive();
    await this.#turns.take(command.signal);
    try {
      const shell = await this.#ready();
      const execution = await shell.run(command);
      const reset = this.#reset;
      this.#reset = false;
      void execution.settled.then(() => this.#turns.next());
      return follow(execution, shell, reset);
    } catch (error) {
      this.#turns.next();
      this.requireActive();
      throw error;
    }
  }

  /** Kills everything in it; resolves when nothing is left. `reason`: a clause for messages. Idempotent. */
  async close(reason: string): Promise<void> {
    if (!this.#closed) {
      this.#closed = { at: this.#parts.now(), reason };
      this.#ending.abort();
      this.#turns.fail(new ServiceError('FAILED_PRECONDITION', `session ${this.id} has ended: ${reason}`));
      this.#parts.onClosed(this);
    }
    await this.#opening?.catch(() => undefined);
    await this.#shell?.close();
  }

  async #ready(): Promise<RunningShell> {
    this.requireActive();
    if (this.#shell) return this.#shell;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** If the sandbox has ended, so has the session. After any other error the next command tries again. */
  async #open(): Promise<RunningShell> {
    const { running, around } = this.#parts;
    try {
      const shell = await running.openShell({ ...around, signal: this.#ending.signal, replaces: true });
      this.#path = shell.path;
      this.#use(shell);
      return shell;
    } catch (error) {
      // Not awaited: it waits for this opening.
      if (error instanceof SandboxEnded) void this.close(error.message);
      throw error;
    }
  }

  #use(shell: RunningShell): void {
    this.#shell = shell;
    void shell.ended.then(({ error, killed, reason }) => {
      this.#shell = undefined;
      if (this.#closed) return;
      if (!killed && (error === undefined || error instanceof SandboxEnded)) {
        void this.close(error?.message ?? reason);
        return;
      }
      this.#reset = true;
      // In advance; if it fails, the next command tries again.
      this.#ready().catch(() => undefined);
    });
  }
}

function follow(execution: ShellExecution, shell: RunningShell, reset: boolean): SessionExecution {
  let ended = false;
  async function* events(): AsyncGenerator<CommandEvent> {
    for await (const event of execution) {
      if (event.kind === 'exit') ended = shell.end !== undefined;
      yield event;
    }
  }
  return { events: events(), outcome: () => ({ session_ended: ended, session_reset: reset }) };
}
