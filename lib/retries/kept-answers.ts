import { ServiceError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { KeyedCall, Retries } from '../services.ts';
import { Shares } from '../shares.ts';
import { AnswerFile, type FileSystem } from './answer-file.ts';
import type { Intent, Line } from './answer-lines.ts';
import { fingerprintOf } from './fingerprint.ts';
import { type Interrupted, isKeyed } from './interrupted.ts';
import { keptForm } from './kept-form.ts';

/** An answer is kept for this time, in milliseconds, from the arrival of its request on. */
const KEPT_MS = 24 * 60 * 60_000;
/** A larger answer is not kept, in bytes of its JSON. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Bytes of all kept answers, of which an owner has a share. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** What a request counts in addition to its answer, in bytes. */
const INTENT_BYTES = 1024;

interface Entry {
  readonly intent: Intent;
  /** The call in progress, with its complete answer. */
  running?: Promise<unknown> | undefined;
  /** The complete answer, until it is stored. */
  unstored?: { answer: unknown } | undefined;
  /** What is kept of the answer. */
  answer?: Extract<Line, { kind: 'answer' | 'large' }>;
  /** Bytes that it counts in its owner's share. */
  bytes: number;
}

export interface KeptAnswersOptions {
  /** The file; it is created by the first request with an idempotency key. */
  path: string;
  log: Log;
  /** Wall-clock time in milliseconds since the epoch. */
  now?: () => number;
  fileSystem?: FileSystem;
  /** Bytes of all kept answers; absent: 64 MiB. */
  maxBytes?: number;
}

/**
 * The answers to requests with an idempotency key. Before its effect a request is recorded durably, as an intent; before
 * it is answered, its answer. An error is not kept: it had no effect, so that the same key can be used again. An intent
 * without an answer was cut off by the end of the server: `recover` finds out whether it had its effect.
 */
export class KeptAnswers implements Retries {
  readonly #options: KeptAnswersOptions;
  readonly #file: AnswerFile;
  readonly #shares: Shares<string>;
  readonly #byKey = new Map<string, Entry>();
  /** In order of their arrival. */
  readonly #byId = new Map<string, Entry>();

  private constructor(options: KeptAnswersOptions) {
    const { path, log, fileSystem, maxBytes = MAX_TOTAL_BYTES } = options;
    this.#options = options;
    this.#shares = new Shares(maxBytes);
    this.#file = new AnswerFile({
      path,
      live: () => this.#lines(),
      failed: (err) => log.error('answers for idempotency keys could not be stored', { path, err }),
      fileSystem,
    });
  }

  /** Loads the kept answers. The caller must hold the lock on the metadata, and calls `recover` and, at last, `close`. */
  static async open(options: KeptAnswersOptions): Promise<KeptAnswers> {
    const answers = new KeptAnswers(options);
    const { lines, damaged } = await answers.#file.load();
    if (damaged > 0) {
      const { path, log } = options;
      const fields = { path, lines: damaged, copy: `${path}.damaged` };
      log.error('answers for idempotency keys are damaged; what is lost is not recognized as a retry', fields);
    }
    for (const line of lines) answers.#load(line);
    for (const entry of [...answers.#byId.values()]) if (answers.#isExpired(entry)) answers.#forget(entry);
    return answers;
  }

  async once<R extends object, T>(
    call: KeyedCall<R>,
    narrow: () => R,
    effect: (request: R, intent: string) => T | Promise<T>,
  ): Promise<T> {
    const fingerprint = await fingerprintOf(call.operation, call.request);
    const { key_id: caller, owner_id: owner } = call.principal;
    const known = this.#byKey.get(nameOf(caller, call.key));
    if (known !== undefined && (known.running !== undefined || !this.#isExpired(known))) {
      if (known.intent.fingerprint !== fingerprint) throw otherRequest();
      return (await this.#again(known)) as T;
    }
    if (known !== undefined) this.#forget(known);
    // Nothing is awaited from the look-up to the registration.
    const request = narrow();
    const time = this.#now();
    const { count } = call.request as { count?: unknown };
    const { key, operation } = call;
    const intent = { id: newId('rq', time), caller, owner, key, operation, fingerprint, time };
    const entry = this.#begin(typeof count === 'number' ? { ...intent, count } : intent);
    const running = this.#carryOut(entry, async () => effect(request, intent.id));
    entry.running = running;
    try {
      return await running;
    } finally {
      entry.running = undefined;
    }
  }

  async record(id: string, answer: unknown): Promise<void> {
    const entry = this.#byId.get(id);
    // Absent: the server's state is of another time than these answers.
    if (entry === undefined || entry.answer !== undefined) return;
    this.#keep(entry, answer);
    // If that fails, it is tried again at the end of the call, and by the next one.
    await this.#store(entry, answer).catch(() => undefined);
  }

  /** Finds out what the intents without answers have done. Call once, before the first request. */
  async recover(interrupted: Interrupted): Promise<void> {
    for (const entry of [...this.#byId.values()]) {
      const { id, operation } = entry.intent;
      if (entry.answer !== undefined) continue;
      const answer = isKeyed(operation) ? await interrupted[operation](entry.intent) : undefined;
      this.#options.log.info('a request was cut off by the end of the server', {
        intent: id,
        operation,
        carried_out: answer !== undefined,
      });
      if (answer === undefined) this.#forget(entry);
      else await this.record(id, answer);
    }
  }

  /** Forgets what is older than a day. */
  async expire(): Promise<void> {
    let needed = 0;
    for (const entry of [...this.#byId.values()]) {
      if (entry.running === undefined && this.#isExpired(entry)) this.#forget(entry);
      else needed += INTENT_BYTES + (entry.answer?.kind === 'answer' ? entry.answer.text.length : 0);
    }
    await this.#file.tidy(needed);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #again(entry: Entry): Promise<unknown> {
    if (entry.running !== undefined) return entry.running;
    if (entry.unstored !== undefined) return this.#store(entry, entry.unstored.answer);
    if (entry.answer?.kind === 'answer') return JSON.parse(entry.answer.text);
    throw new ServiceError(
      'ALREADY_EXISTS',
      `the request with this idempotency-key was carried out; its answer of ${entry.answer?.bytes} bytes is not kept: at most ${MAX_ANSWER_BYTES} are, within the owner's share`,
    );
  }

  #begin(intent: Intent): Entry {
    const { caller, owner, key } = intent;
    if (!this.#shares.take(owner, INTENT_BYTES)) {
      throw new ServiceError(
        'RESOURCE_EXHAUSTED',
        `the answers that are kept for idempotency keys of owner ${JSON.stringify(owner)} have used their share of ${this.#shares.total} bytes; send no idempotency-key, or retry later`,
      );
    }
    const entry: Entry = { intent, bytes: INTENT_BYTES };
    this.#byKey.set(nameOf(caller, key), entry);
    this.#byId.set(intent.id, entry);
    return entry;
  }

  async #carryOut<T>(entry: Entry, effect: () => Promise<T>): Promise<T> {
    const { intent } = entry;
    let answer: T;
    try {
      await this.#file.append({ kind: 'intent', intent });
      answer = await effect();
    } catch (error) {
      // With an answer, the effect is certain, although a later step of the operation failed.
      if (entry.answer === undefined) {
        this.#forget(entry);
        // Not awaited: without this line the next start finds that there was no effect.
        this.#file.append({ kind: 'failed', id: intent.id }).catch(() => undefined);
      }
      throw error;
    }
    if (entry.answer === undefined) this.#keep(entry, answer);
    else if (entry.unstored === undefined) return answer;
    return this.#store(entry, answer);
  }

  async #store<T>(entry: Entry, answer: T): Promise<T> {
    entry.unstored = { answer };
    try {
      await this.#file.append(entry.answer!);
    } catch (cause) {
      const message =
        'the request was carried out, but its answer could not be stored; retry it with its idempotency-key';
      throw new ServiceError('UNAVAILABLE', message, [], { cause });
    }
    entry.unstored = undefined;
    return answer;
  }

  #keep(entry: Entry, answer: unknown): void {
    const { id, owner, operation } = entry.intent;
    const text = JSON.stringify(keptForm(operation, answer));
    const bytes = Buffer.byteLength(text);
    const kept = bytes <= MAX_ANSWER_BYTES && this.#shares.take(owner, bytes);
    entry.answer = kept ? { kind: 'answer', id, text } : { kind: 'large', id, bytes };
    if (kept) entry.bytes += bytes;
  }

  #forget(entry: Entry): void {
    const { id, caller, owner, key } = entry.intent;
    const name = nameOf(caller, key);
    if (this.#byKey.get(name) === entry) this.#byKey.delete(name);
    if (this.#byId.delete(id)) this.#shares.give(owner, entry.bytes);
  }

  #load(line: Line): void {
    if (line.kind === 'intent') {
      const { intent } = line;
      const before = this.#byKey.get(nameOf(intent.caller, intent.key));
      if (before !== undefined) this.#forget(before);
      const entry: Entry = { intent, bytes: this.#count(intent.owner, INTENT_BYTES) };
      this.#byKey.set(nameOf(intent.caller, intent.key), entry);
      this.#byId.set(intent.id, entry);
      return;
    }
    const entry = this.#byId.get(line.id);
    if (entry === undefined) return;
    if (line.kind === 'failed') {
      this.#forget(entry);
      return;
    }
    if (entry.answer !== undefined) return;
    entry.answer = line;
    const bytes = line.kind === 'answer' ? Buffer.byteLength(line.text) : 0;
    entry.bytes += this.#count(entry.intent.owner, bytes);
  }

  /** Counts what is loaded. It is kept without being counted where that exceeds the share: it was promised. */
  #count(owner: string, bytes: number): number {
    return this.#shares.take(owner, bytes) ? bytes : 0;
  }

  *#lines(): Generator<Line> {
    for (const { intent, answer } of this.#byId.values()) {
      yield { kind: 'intent', intent };
      if (answer !== undefined) yield answer;
    }
  }

  #isExpired({ intent }: Entry): boolean {
    return this.#now() - intent.time >= KEPT_MS;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

function nameOf(caller: string, key: string): string {
  return `${caller} ${key}`;
}

function otherRequest(): ServiceError {
  return new ServiceError(
    'ABORTED',
    'the idempotency-key was used for another request less than 24 hours ago; use a new key for each request',
  );
}
