import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../errors.ts';
import { closeQuietly } from '../../linux/close.ts';
import { openFifo } from './fifo-pool.ts';
import { openPipeReader, type PipeReader } from './pipe-reader.ts';
import { newNonce, type RunnerHost } from './runner.ts';

/** Two of them are the server's write ends, until `leave`. */
const DESCRIPTORS = 4;

/**
 * A pair of FIFOs for the output of one command of a session after the other. The server holds their write ends, so
 * that they do not end between commands. Owns descriptors and files until `close`, or `leave` and the end of the last
 * process that writes.
 */
export class OutputPipes {
  /** The files are `name`.out and `name`.err in the agent directory. */
  readonly name = newNonce();
  readonly out: PipeReader;
  readonly err: PipeReader;
  readonly #host: RunnerHost;
  #writers: number[];
  #taken = DESCRIPTORS;

  private constructor(host: RunnerHost, name: string, readers: readonly PipeReader[], writers: number[]) {
    this.#host = host;
    this.name = name;
    this.out = readers[0]!;
    this.err = readers[1]!;
    this.#writers = writers;
  }

  /** Throws RESOURCE_EXHAUSTED if the sandbox’s share of descriptors is in use. */
  static async open(host: RunnerHost): Promise<OutputPipes> {
    takeDescriptors(host, DESCRIPTORS);
    const name = newNonce();
    const paths = ['out', 'err'].map((kind) => join(host.dir, `${name}.${kind}`));
    const readers: PipeReader[] = [];
    const writers: number[] = [];
    try {
      await host.fifos.place(paths, host.uid);
      for (const path of paths) {
        readers.push(openPipeReader(path, 'read', host.scratch, host.paces.commands, host.fifos.grow));
        writers.push(openFifo(path, 'write'));
      }
      return new OutputPipes(host, name, readers, writers);
    } catch (error) {
      for (const reader of readers) reader.close();
      writers.forEach(closeQuietly);
      paths.forEach(removeQuietly);
      host.descriptors.commands.give(host, DESCRIPTORS);
      throw error;
    }
  }

  /** Settles when no process writes any more, after `leave`. */
  get ended(): Promise<unknown> {
    return Promise.all([this.out.ended, this.err.ended]);
  }

  /** No further command uses it. What its processes still write is read and discarded. */
  leave(): void {
    this.release();
    for (const reader of [this.out, this.err]) {
      reader.sink = () => true;
      reader.pace = this.#host.paces.dropped;
      reader.resume();
    }
    void this.ended.then(() => this.close());
  }

  /** The pipes end with the last process that writes. Idempotent. */
  release(): void {
    if (this.#writers.length === 0) return;
    this.#writers.splice(0).forEach(closeQuietly);
    for (const kind of ['out', 'err']) removeQuietly(join(this.#host.dir, `${this.name}.${kind}`));
    this.#give(2);
  }

  /** Idempotent. */
  close(): void {
    this.release();
    this.out.close();
    this.err.close();
    this.#give(this.#taken);
  }

  #give(count: number): void {
    if (count > 0) this.#host.descriptors.commands.give(this.#host, count);
    this.#taken -= count;
  }
}

export function takeDescriptors(host: RunnerHost, count: number): void {
  if (host.descriptors.commands.take(host, count)) return;
  throw new ServiceError(
    'RESOURCE_EXHAUSTED',
    'the sandbox’s commands and sessions have all file descriptors of its share in use',
  );
}

/** A remaining file is removed with the agent directory. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}
