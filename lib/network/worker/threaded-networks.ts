import { EventEmitter } from 'node:events';
import { ServiceError } from '../../errors.ts';
import { startOf } from '../../linux/process-start.ts';
import type { Log } from '../../log.ts';
import type { HostProcess } from '../namespace/socket-maker.ts';
import type { NetworkPolicy } from '../policy/policy.ts';
import type { BoundSecret } from '../secrets/bound-secret.ts';
import type { NetworkThread, ThreadListeners } from './network-thread.ts';
import type { ConnectionInfo, EventBatch, EventCursor, Refusal, SandboxNetworks } from './networks.ts';
import type { NetworkCall } from './run-networks.ts';

/** What a network is opened again with. */
interface Known {
  /** The process of the first time: its pid may be used again before the thread is started again. */
  process: HostProcess;
  policy: NetworkPolicy;
  secrets: readonly BoundSecret[];
}

type Start = (listeners: ThreadListeners) => NetworkThread;

/** Milliseconds between two starts. */
const MIN_LIFE = 1000;

/**
 * The networks of sandboxes in a thread of their own, which is started with the first network. If the thread ends, all
 * connections and listeners are gone with it: programs are refused until it is started again and has opened all
 * networks with their policies.
 */
export class ThreadedNetworks implements SandboxNetworks {
  readonly #start: Start;
  readonly #log: Log;
  readonly #known = new Map<string, Known>();
  /** Those that ended with the thread, until they are open again. */
  readonly #lost = new Set<string>();
  readonly #news = new EventEmitter().setMaxListeners(0);
  #thread: NetworkThread | undefined;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(start: Start, log: Log) {
    this.#start = start;
    this.#log = log;
  }

  async open(id: string, pid: number, policy: NetworkPolicy, secrets: readonly BoundSecret[]): Promise<void> {
    const start = startOf(pid);
    if (start === undefined) throw new ServiceError('UNAVAILABLE', 'the sandbox has ended');
    await this.#change(id, { process: { pid, start }, policy, secrets });
  }

  /** Nothing, for a network that was not opened. */
  async update(id: string, policy: NetworkPolicy, secrets: readonly BoundSecret[]): Promise<void> {
    const before = this.#known.get(id);
    if (before !== undefined) await this.#change(id, { ...before, policy, secrets }, before);
  }

  async #change(id: string, known: Known, before?: Known): Promise<void> {
    const { policy, secrets } = known;
    this.#known.set(id, known);
    try {
      const isOpen = before !== undefined && before.policy.mode !== 'none' && !this.#lost.has(id);
      if (policy.mode === 'none') await this.#thread?.call('close', [id]);
      else if (isOpen) await this.#call('update', [id, policy, secrets]);
      else await this.#open(id, known);
    } catch (error) {
      if (this.#known.get(id) === known) {
        if (before) this.#known.set(id, before);
        else this.#known.delete(id);
      }
      throw error;
    }
  }

  async #open(id: string, { process, policy, secrets }: Known): Promise<void> {
    await this.#call('open', [id, process, policy, secrets]);
    this.#lost.delete(id);
    // Its events are others now.
    this.#news.emit(id);
  }

  async close(id: string): Promise<void> {
    this.#lost.delete(id);
    const thread = this.#thread;
    if (!this.#known.delete(id)) return;
    await thread?.call('close', [id]).catch((error: unknown) => {
      // With its thread it has ended, and is not opened again.
      if (this.#thread === thread) throw error;
    });
  }

  async connections(id: string): Promise<ConnectionInfo[]> {
    return (await this.#ask('connections', [id])) as ConnectionInfo[];
  }

  async refusals(id: string, since?: number): Promise<Refusal[]> {
    return (await this.#ask('refusals', [id, since])) as Refusal[];
  }

  async events(id: string, cursor: EventCursor, deniedOnly: boolean): Promise<EventBatch | undefined> {
    if (this.#thread === undefined || !this.#known.has(id)) return undefined;
    return (await this.#thread.call('events', [id, cursor, deniedOnly])) as EventBatch | undefined;
  }

  onNews(id: string, heard: () => void): () => void {
    this.#news.on(id, heard);
    return () => this.#news.off(id, heard);
  }

  /** Ends the thread. Never rejects. */
  async end(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restart);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.call('end', []).catch(() => undefined);
    await thread?.end().catch(() => undefined);
  }

  async #ask(method: 'connections' | 'refusals', args: [id: string, since?: number | undefined]): Promise<unknown> {
    return this.#thread !== undefined && this.#known.has(args[0]) ? this.#thread.call(method, args) : [];
  }

  async #call(method: NetworkCall['method'], args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the server is closing');
    this.#thread ??= this.#newThread();
    return this.#thread.call(method, args);
  }

  #newThread(): NetworkThread {
    const startedAt = performance.now();
    const ended = (cause: unknown) => {
      if (this.#closed || this.#thread !== thread) return;
      this.#thread = undefined;
      for (const [id, { policy }] of this.#known) if (policy.mode !== 'none') this.#lost.add(id);
      this.#log.error('the thread of the networks of sandboxes ended; it is started again', { err: cause });
      // It could end at once, again and again.
      const wait = Math.max(0, MIN_LIFE - (performance.now() - startedAt));
      this.#restart = setTimeout(() => this.#openAgain(), wait).unref();
    };
    const thread = this.#start({ ended, news: (id) => this.#news.emit(id) });
    return thread;
  }

  #openAgain(): void {
    for (const id of this.#lost) {
      const known = this.#known.get(id);
      if (known === undefined || known.policy.mode === 'none') continue;
      this.#open(id, known).catch((err: unknown) => {
        this.#log.error('the network of a sandbox could not be opened again', { sandbox: id, err });
      });
    }
  }
}
