import { SandboxEnded, ServiceError } from '../../errors.ts';
import type { SharedMappings } from '../../linux/shared-mappings.ts';
import type {
  Command,
  ListeningPort,
  NetworkState,
  OpenShell,
  RunningCommand,
  RunningSandbox,
  RunningShell,
  Runtime,
  SandboxSpec,
} from '../runtime.ts';
import { MockCommand, type MockResult } from './mock-command.ts';
import { MockShell } from './mock-shell.ts';

/**
 * Creates the test runtime, which never starts a process. It interprets `true`, `false`, `exit N`, `echo WORDS`, `cat`
 * (standard input) and `sleep SECONDS` without a shell; every other command ends with 127 and a message on stderr.
 */
export function createMockRuntime(): Runtime {
  return {
    probe: () => Promise.resolve(),
    reclaim: () => Promise.resolve(),
    launch: (_spec: SandboxSpec) => Promise.resolve(new MockSandbox()),
  };
}

class MockSandbox implements RunningSandbox {
  readonly exited = new Promise<string>(() => {});
  readonly #running = new Set<MockCommand>();
  readonly #shells = new Set<MockShell>();
  #stopped = false;

  async exec(command: Command): Promise<RunningCommand> {
    if (this.#stopped) throw new SandboxEnded('the sandbox was stopped');
    if (command.signal.aborted) throw new ServiceError('CANCELLED', 'the command was cancelled');
    const running = new MockCommand(command, interpret(command), (ended) => this.#running.delete(ended));
    if (!running.ended) this.#running.add(running);
    return running;
  }

  async openShell({ shell, signal }: OpenShell): Promise<RunningShell> {
    if (this.#stopped) throw new SandboxEnded('the sandbox was stopped');
    if (signal.aborted) throw new ServiceError('CANCELLED', 'the client disconnected');
    const opened = new MockShell(shell, (command) => this.exec(command));
    this.#shells.add(opened);
    void opened.ended.then(() => this.#shells.delete(opened));
    return opened;
  }

  async ports(): Promise<ListeningPort[]> {
    throw new ServiceError('FAILED_PRECONDITION', 'the runtime mock has no network');
  }

  async sharedMappings(): Promise<SharedMappings> {
    return new Map();
  }

  async inotifyWatches(): Promise<ReadonlySet<number>> {
    return new Set();
  }

  async network(): Promise<NetworkState> {
    return 'present';
  }

  networkPid(): number {
    throw new ServiceError('FAILED_PRECONDITION', 'the runtime mock has no network');
  }

  setNetwork(): void {}

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const each of [...this.#running]) each.fail(new SandboxEnded('the sandbox was stopped'));
    for (const each of [...this.#shells]) each.fail(new SandboxEnded('the sandbox was stopped'));
  }
}

function interpret({ command, argv, stdin, openStdin }: Command): MockResult {
  const [name, ...words] = argv ?? command.trim().split(/\s+/);
  const result = (part: Partial<MockResult>) => ({ stdout: '', stderr: '', exitCode: 0, sleepMs: 0, ...part });
  const number = words.length === 1 && /^\d+(\.\d+)?$/.test(words[0]!) ? Number(words[0]) : undefined;
  if (name === 'true') return result({});
  if (name === 'false') return result({ exitCode: 1 });
  if (name === 'echo') return result({ stdout: `${words.join(' ')}\n` });
  if (name === 'cat' && words.length === 0) {
    return openStdin ? result({ sleepMs: Number.POSITIVE_INFINITY }) : result({ stdout: stdin });
  }
  if (name === 'exit' && number !== undefined && Number.isInteger(number)) return result({ exitCode: number & 0xff });
  if (name === 'sleep' && number !== undefined) return result({ sleepMs: number * 1000 });
  return result({ stderr: 'the mock runtime runs no commands\n', exitCode: 127 });
}
