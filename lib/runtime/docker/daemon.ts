import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type Dockerode from 'dockerode';
import { addressText, type DaemonAddress } from './address.ts';
import { daemonError } from './errors.ts';

/** One question to the daemon: `ask` must give up when the signal fires. */
export interface Call<T> {
  /** For the error: what could not be done, as in "creating a container". */
  doing: string;
  limitMs: number;
  ask(docker: Dockerode, signal: AbortSignal): Promise<T>;
}

/**
 * The way to one daemon. Nothing is kept open between calls, so a daemon that restarts is simply met again by the next
 * one. Every call ends within its limit; errors are ServiceErrors, UNAVAILABLE for all that lies with the daemon.
 */
export class Daemon {
  readonly address: string;
  readonly #options: Dockerode.DockerOptions;
  #docker: Promise<Dockerode> | undefined;

  constructor(address: DaemonAddress) {
    this.address = addressText(address);
    this.#options = clientOptions(address);
  }

  async call<T>({ doing, limitMs, ask }: Call<T>): Promise<T> {
    const signal = AbortSignal.timeout(limitMs);
    try {
      const docker = await this.docker();
      return await Promise.race([ask(docker, signal), whenAborted(signal)]);
    } catch (error) {
      throw daemonError(error, { address: this.address, doing, limitMs: signal.aborted ? limitMs : undefined });
    }
  }

  /** Loaded at first use: a server without Docker does not pay for the client. */
  docker(): Promise<Dockerode> {
    this.#docker ??= import('dockerode').then(({ default: Docker }) => new Docker({ ...this.#options }));
    return this.#docker;
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** Every place where the client would otherwise look into DOCKER_HOST and its kin is set. */
function clientOptions(address: DaemonAddress): Dockerode.DockerOptions {
  const none = { host: undefined, port: undefined, socketPath: undefined, ca: undefined, cert: undefined };
  const cleared = { ...none, key: undefined, username: undefined, timeout: undefined, pathPrefix: '/' };
  const options =
    address.kind === 'unix'
      ? { ...cleared, protocol: 'http', socketPath: address.socketPath, agent: new HttpAgent() }
      : {
          ...cleared,
          protocol: address.tls ? 'https' : 'http',
          host: address.hostname.includes(':') ? `[${address.hostname}]` : address.hostname,
          port: address.port,
          agent: address.tls ? new HttpsAgent() : new HttpAgent(),
          ...address.tls,
        };
  return options as Dockerode.DockerOptions;
}
