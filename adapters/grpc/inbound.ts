import type { ServerHttp2Stream } from 'node:http2';
import type { Metadata, ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { ServiceError } from '../../lib/errors.ts';
import type { Received } from '../../lib/limits/received-bytes.ts';
import { allowedMs, tooSlow } from '../received/pace.ts';
import { inflate } from './inflate.ts';
import { type Arrived, MessageDecoder } from './message-decoder.ts';
import { statusOf } from './status.ts';
import { dense, WaitingPieces } from './waiting-pieces.ts';

/**
 * A call of grpc-js. What its interface does not have is private there, which is why the range of @grpc/grpc-js in
 * package.json is `~`; test/adapters/inbound.test.ts fails if a field moves.
 */
export interface ServerCall extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  readonly metadata: Metadata;
  decoder: { write(data: Buffer): Buffer[] };
  decompressMessage(message: Buffer, encoding: string): Buffer | Promise<Buffer>;
}

const FRAME_BYTES = 5;
/** Bytes of messages that are read ahead of their consumer. */
const READ_AHEAD = 1 << 20;
/** What a message costs beside its bytes: grpc-js has objects for it until it is consumed. */
const MESSAGE_COST = 512;

export interface InboundOptions {
  /** Maximum bytes of one message. */
  max: number;
  /** The client sends one message, which is needed until the call ends. */
  single: boolean;
  /** `consumed` is called for each message, and no more are read before. Otherwise each is consumed when it is delivered. */
  paced: boolean;
  received: Pick<Received, 'hold'>;
  /** Called with the reason if the call must not go on. */
  failed: (reason: ServiceError) => void;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
}

/**
 * What a client sends in one call: cut into messages, decompressed, and counted from its arrival in this process until it is
 * consumed.
 */
export class Inbound {
  readonly #call: ServerCall;
  readonly #options: InboundOptions;
  readonly #now: () => number;
  readonly #decoder: MessageDecoder;
  /** Messages that are complete and not consumed. `compressed`: what is not decompressed yet. */
  readonly #whole: (Arrived & { bytes: number })[] = [];
  /** Waits for a message to be consumed. */
  readonly #waiting: (() => void)[] = [];
  #wholeBytes = 0;
  #delivered = 0;
  /** The pieces that wait in the HTTP/2 stream, in their order. */
  readonly #pieces = new WaitingPieces();
  /** Whether a piece that arrives is not read yet. */
  #arriving = false;
  #inflating: Promise<unknown> = Promise.resolve();
  #inflater = 0;
  /** When the message that is being received began, or (with one message) the call. */
  #began: number;
  #stopped = false;

  constructor(call: ServerCall, options: InboundOptions) {
    this.#call = call;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#began = this.#now();
    this.#decoder = new MessageDecoder(options.max);
    call.decoder = { write: (data) => this.#write(data) };
    call.decompressMessage = (message, encoding) => this.#decompress(message, encoding);
    this.#countPieces(call.stream);
    if (options.paced) this.#paceReads();
  }

  /** grpc-js has passed on a message. */
  delivered(): void {
    this.#delivered++;
    if (!this.#options.single && !this.#options.paced) this.consumed();
  }

  /** The message that was delivered first is not needed any more. */
  consumed(): void {
    this.#delivered--;
    this.#wholeBytes -= this.#whole.shift()?.bytes ?? 0;
    this.#account();
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Drops what has arrived and what will arrive. */
  stop(): void {
    this.#stopped = true;
    this.#decoder.drop();
    for (const { compressed } of this.#whole) compressed?.drop();
    for (const go of this.#waiting.splice(0)) go();
    this.#call.stream.resume();
  }

  /** Fails if a message takes too long to arrive. The time in which the client is not read from does not count. */
  checkPace(): void {
    const { single, failed } = this.#options;
    const bytes = this.#decoder.begun + this.#wholeBytes;
    if (!single && (this.#decoder.begun === 0 || this.#call.stream.isPaused())) this.#began = this.#now();
    else if (this.#now() - this.#began > allowedMs(bytes)) failed(tooSlow());
  }

  /**
   * The pieces that wait in the stream, because it is not read from, are held too. The threat: each of them keeps the buffer
   * in which it arrived.
   */
  #countPieces(stream: ServerHttp2Stream): void {
    const push = stream.push;
    stream.push = (piece: Buffer | null) => {
      if (piece === null || this.#stopped) return push.call(stream, piece);
      const passes = stream.readableFlowing === true && stream.readableLength === 0;
      const kept = passes ? piece : dense(piece);
      this.#arriving = true;
      const more = push.call(stream, kept);
      if (this.#arriving) {
        this.#arriving = false;
        this.#pieces.add(kept);
        this.#account();
      }
      return more;
    };
  }

  /** Messages are read ahead by bytes: grpc-js reads up to sixteen, of any size. */
  #paceReads(): void {
    const call = this.#call;
    const startRead = call.startRead.bind(call);
    call.startRead = () => {
      if (this.#isAhead) this.#waiting.push(() => call.startRead());
      else startRead();
    };
  }

  get #isAhead(): boolean {
    return !this.#stopped && this.#delivered > 0 && this.#wholeBytes > READ_AHEAD;
  }

  #write(data: Buffer): Buffer[] {
    if (this.#stopped) return [];
    if (this.#arriving) this.#arriving = false;
    else this.#pieces.shift();
    if (this.#decoder.begun === 0 && !this.#options.single) this.#began = this.#now();
    try {
      const messages = this.#decoder.write(data);
      // What has begun behind a complete message is another one.
      if (messages.length > 0 && !this.#options.single) this.#began = this.#now();
      for (const arrived of messages) {
        const bytes = arrived.message.length + (arrived.compressed?.held ?? 0) + MESSAGE_COST;
        this.#whole.push({ ...arrived, bytes });
        this.#wholeBytes += bytes;
      }
      this.#account();
      return this.#stopped ? [] : messages.map(({ message }) => message);
    } catch (error) {
      this.#options.failed(error as ServiceError);
      return [];
    }
  }

  #account(): void {
    if (this.#stopped) return;
    this.#options.received.hold(this.#decoder.held + this.#wholeBytes + this.#pieces.held + this.#inflater);
  }

  #decompress(message: Buffer, encoding: string): Buffer | Promise<Buffer> {
    if (message[0] !== 1) return message.subarray(FRAME_BYTES);
    // One after the other, and no further ahead than what is not compressed.
    const turn = this.#inflating.then(() => this.#inflate(message, encoding));
    this.#inflating = turn.catch(() => undefined);
    return turn.catch((error: ServiceError) => {
      throw statusOf(error);
    });
  }

  async #inflate(message: Buffer, encoding: string): Promise<Buffer> {
    while (this.#isAhead) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const entry = this.#whole.find((each) => each.message === message);
    const compressed = entry?.compressed;
    if (this.#stopped || entry === undefined || compressed === undefined) throw ended();
    entry.compressed = undefined;
    this.#set(entry, MESSAGE_COST);
    const held = (bytes: number) => {
      this.#inflater = bytes;
      this.#account();
      if (this.#stopped) throw ended();
    };
    const whole =
      encoding === 'identity'
        ? compressed.take()
        : await inflate(compressed, encoding, { max: this.#options.max, held });
    this.#set(entry, whole.length + MESSAGE_COST);
    held(0);
    return whole;
  }

  #set(entry: { bytes: number }, bytes: number): void {
    this.#wholeBytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }
}

function ended(): ServiceError {
  return new ServiceError('CANCELLED', 'the call has ended');
}
