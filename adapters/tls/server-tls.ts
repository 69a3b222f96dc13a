import type { SecureContextOptions, Server, TlsOptions } from 'node:tls';
import type { Log } from '../../lib/log.ts';
import { contextOf, readTls, type TlsContents, type TlsPaths, validUntil } from './material.ts';

/** Milliseconds between two reads of the files. */
const RELOAD_MS = 10_000;
/** Milliseconds for a client to complete the handshake; its connection is closed after that. */
const HANDSHAKE_MS = 15_000;

export interface ServerTlsOptions {
  paths: TlsPaths;
  log: Log;
  reloadMs?: number;
  handshakeMs?: number;
  /** Wall-clock time in milliseconds since the epoch. */
  now?: () => number;
}

/**
 * The TLS of all listeners, from files that are replaced while the server runs. The files are read at an interval, not
 * watched: that also finds a replaced directory link (Kubernetes) or file link (certbot), and works on every file
 * system. The caller must call `close`.
 */
export class ServerTls {
  readonly #options: Required<ServerTlsOptions>;
  readonly #servers = new Set<Server>();
  readonly #timer: NodeJS.Timeout;
  #contents: TlsContents;
  #context: SecureContextOptions;
  /** Why the files as they are now cannot be used. */
  #refusal: string | undefined;
  #checking = false;

  /** Rejects with one sentence for files that cannot be used. */
  static async open(options: ServerTlsOptions): Promise<ServerTls> {
    const all = { reloadMs: RELOAD_MS, handshakeMs: HANDSHAKE_MS, now: Date.now, ...options };
    const contents = await readTls(all.paths);
    return new ServerTls(all, contents, contextOf(contents, all.paths, all.now()));
  }

  private constructor(options: Required<ServerTlsOptions>, contents: TlsContents, context: SecureContextOptions) {
    this.#options = options;
    this.#contents = contents;
    this.#context = context;
    this.#timer = setInterval(() => void this.#check(), options.reloadMs).unref();
  }

  /** For the constructor of a server with the given ALPN protocol. */
  serverOptions(protocol: 'h2' | 'http/1.1'): TlsOptions {
    const { handshakeMs, paths } = this.#options;
    const clients = paths.clientCa !== '';
    return {
      ...this.#context,
      ALPNProtocols: [protocol],
      handshakeTimeout: handshakeMs,
      requestCert: clients,
      rejectUnauthorized: clients,
    };
  }

  /** From now on new connections of `server` use the files in their latest usable version; open ones are kept. */
  attach(server: Server): void {
    this.#servers.add(server);
    server.once('close', () => this.#servers.delete(server));
  }

  /** Ends the reading of the files. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** Never rejects. A reason not to use the files is logged once. */
  async #check(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    const { log } = this.#options;
    try {
      await this.#reload();
      this.#refusal = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#refusal)
        log.error('the new TLS files are not used, the old ones stay', { reason: message });
      this.#refusal = message;
    } finally {
      this.#checking = false;
    }
  }

  async #reload(): Promise<void> {
    const { paths, log, now } = this.#options;
    const contents = await readTls(paths);
    if (isSame(contents, this.#contents)) return;
    const context = contextOf(contents, paths, now());
    this.#contents = contents;
    this.#context = context;
    for (const server of this.#servers) server.setSecureContext(context);
    log.info('the TLS files were replaced', { valid_until: validUntil(contents).toISOString() });
  }
}

function isSame(one: TlsContents, other: TlsContents): boolean {
  return one.certificate === other.certificate && one.key === other.key && one.clientCa === other.clientCa;
}
