import { ServiceError } from '../../errors.ts';
import { EventQueue } from '../executor/execution.ts';
import type { Command, Execution, RunningSandbox, Runtime, SandboxSpec } from '../runtime.ts';

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
  readonly #running = new Set<(error: ServiceError) => void>();
  #stopped = false;

  async exec(command: Command): Promise<Execution> {
    if (this.#stopped) throw new ServiceError('UNAVAILABLE', 'the sandbox was stopped');
    if (command.signal.aborted) throw cancelled();
    const startedAt = performance.now();
    let finish = (_error?: ServiceError) => {};
    const queue = new EventQueue(
      () => {},
      () => finish(cancelled()),
    );
    const { stdout, stderr, exitCode, sleepMs } = interpret(command);
    const cancel = () => finish(cancelled());
    const stop = (error: ServiceError) => finish(error);
    const inTime = sleepMs <= command.timeoutMs;
    const timer = setTimeout(
      () =>
        finish(
          inTime
            ? undefined
            : new ServiceError('DEADLINE_EXCEEDED', `the command ran longer than ${command.timeoutMs} ms`),
        ),
      Math.min(sleepMs, command.timeoutMs),
    );
    finish = (error) => {
      clearTimeout(timer);
      this.#running.delete(stop);
      command.signal.removeEventListener('abort', cancel);
      if (error) queue.fail(error);
      else queue.exit(exitCode, Math.round(performance.now() - startedAt));
    };
    this.#running.add(stop);
    command.signal.addEventListener('abort', cancel, { once: true });
    queue.write('STDOUT', Buffer.from(stdout));
    queue.write('STDERR', Buffer.from(stderr));
    if (sleepMs === 0) finish();
    return queue;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const end of [...this.#running]) end(new ServiceError('UNAVAILABLE', 'the sandbox was stopped'));
  }
}

const cancelled = () => new ServiceError('CANCELLED', 'the command was cancelled');

interface Result {
  stdout: string;
  stderr: string;
  exitCode: number;
  sleepMs: number;
}

function interpret({ command, stdin }: Command): Result {
  const [name, ...words] = command.trim().split(/\s+/);
  const result = (part: Partial<Result>): Result => ({ stdout: '', stderr: '', exitCode: 0, sleepMs: 0, ...part });
  const number = words.length === 1 && /^\d+(\.\d+)?$/.test(words[0]!) ? Number(words[0]) : undefined;
  if (name === 'true') return result({});
  if (name === 'false') return result({ exitCode: 1 });
  if (name === 'echo') return result({ stdout: `${words.join(' ')}\n` });
  if (name === 'cat' && words.length === 0) return result({ stdout: stdin });
  if (name === 'exit' && number !== undefined && Number.isInteger(number)) return result({ exitCode: number & 0xff });
  if (name === 'sleep' && number !== undefined) return result({ sleepMs: number * 1000 });
  return result({ stderr: 'the mock runtime runs no commands\n', exitCode: 127 });
}
