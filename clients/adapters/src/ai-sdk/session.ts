import type {
  Experimental_SandboxProcess as SandboxProcess,
  Experimental_SandboxSession as SandboxSession,
} from '@ai-sdk/provider-utils';
import { FailedPreconditionError, NotFoundError, type Process, type Sandbox } from 'paddock-sandbox';
import { runToEnd } from '../shared/command.ts';
import { list, problemOf, readBytes, removeFile, stat, WORKSPACE, writeBytes } from '../shared/files.ts';

/** What a model may do in a sandbox: files and commands, under its rules. Relative paths start in /workspace. */
export function sandboxSession(sandbox: Sandbox): SandboxSession {
  const read = (path: string, signal?: AbortSignal) => orNull(readBytes(sandbox, path, signal));
  return {
    description: `Linux. Commands start in ${WORKSPACE}, which has the files. Files may be hidden or read-only.`,
    readFile: async ({ path, abortSignal }) => {
      const bytes = await read(path, abortSignal);
      return bytes && (new Blob([bytes as Uint8Array<ArrayBuffer>]).stream() as ReadableStream<Uint8Array>);
    },
    readBinaryFile: ({ path, abortSignal }) => read(path, abortSignal),
    readTextFile: async ({ path, encoding = 'utf-8', startLine, endLine, abortSignal }) => {
      const bytes = await read(path, abortSignal);
      const text = bytes && new TextDecoder(encoding).decode(bytes);
      return text && linesOf(text, startLine, endLine);
    },
    writeFile: ({ path, content, abortSignal }) => writeBytes(sandbox, path, content, abortSignal),
    writeBinaryFile: ({ path, content, abortSignal }) => writeBytes(sandbox, path, content, abortSignal),
    writeTextFile: async ({ path, content, encoding = 'utf-8', abortSignal }) =>
      writeBytes(sandbox, path, Buffer.from(content, encoding as BufferEncoding), abortSignal),
    run: async ({ command, workingDirectory: workdir = WORKSPACE, env, abortSignal: signal }) => {
      const { stdout, stderr, end } = await runToEnd(sandbox, command, { workdir, env, signal });
      return { stdout, stderr, exitCode: end.exitCode };
    },
    stat: async ({ path, abortSignal }) => {
      const found = await orNull(stat(sandbox, path, abortSignal));
      return found && { type: found.kind === 'symlink' ? 'other' : found.kind, size: found.size };
    },
    listDirectory: async ({ path, abortSignal }) => {
      const found = await orNull(list(sandbox, path, abortSignal));
      return found?.map(({ name, kind }) => ({ name, type: kind })) ?? null;
    },
    deleteFile: async ({ path, abortSignal }) =>
      (await orNull(removeFile(sandbox, path, abortSignal).then(() => true))) ?? false,
    spawn: (async ({ command, workingDirectory: workdir = WORKSPACE, env, stdin = false, abortSignal }) => {
      abortSignal?.throwIfAborted();
      const process = await sandbox.start(command, { workdir, env, stdin });
      return { ...spawned(process, abortSignal), ...(stdin && { stdin: inputOf(process) }) };
    }) as SandboxSession['spawn'],
  };
}

/** null: the path does not exist. */
async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (problemOf(error) === 'file_not_found') return null;
    throw error;
  }
}

/** Lines from `start` to `end`, counted from 1, with their line ends. */
function linesOf(text: string, start = 1, end = Number.POSITIVE_INFINITY): string {
  if (start === 1 && end === Number.POSITIVE_INFINITY) return text;
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).slice(start - 1, end).join('');
}

function spawned(process: Process, signal: AbortSignal | undefined): SandboxProcess {
  const kill = async (): Promise<void> => {
    try {
      await process.kill();
    } catch (error) {
      // It has ended, or its sandbox has.
      if (!(error instanceof NotFoundError || error instanceof FailedPreconditionError)) throw error;
    }
  };
  const aborted = (): void => void kill().catch(() => undefined);
  if (signal?.aborted) aborted();
  else signal?.addEventListener('abort', aborted, { once: true });
  return {
    stdout: streamOf(process, 'stdout'),
    stderr: streamOf(process, 'stderr'),
    kill,
    wait: async () => {
      const { exitCode } = await process.wait();
      signal?.removeEventListener('abort', aborted);
      signal?.throwIfAborted();
      return { exitCode };
    },
  };
}

/** Read when its reader reads: a stream that nobody reads keeps nothing here, and does not hold up the other one. */
function streamOf(process: Process, type: 'stdout' | 'stderr'): ReadableStream<Uint8Array> {
  const ended = new AbortController();
  const output = process.output({ signal: ended.signal });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { value, done } = await output.next();
          if (done) return controller.close();
          if (value.type === 'gap') throw new Error(`${value.missing} bytes of output came too fast and are lost`);
          if (value.type === type && value.data.length > 0) return controller.enqueue(value.data);
        }
      },
      cancel: () => ended.abort(),
    },
    { highWaterMark: 0 },
  );
}

function inputOf(process: Process): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: (bytes) => process.write(bytes),
    close: () => process.closeStdin(),
    abort: () => process.closeStdin(),
  });
}
