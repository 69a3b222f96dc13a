import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type Dockerode from 'dockerode';
import { addressText, type DaemonAddress } from './address.ts';
import { daemonError } from './errors.ts';
import { failOnTruncatedAnswer } from './truncated-answers.ts';

/**
 * One request to the daemon. `ask` must abort when the signal fires, and throw if the answer lacks what is needed of it.
 */
export interface Call<T> {
  /** The attempted action, for the error text, as in "creating a container". */
  doing: string;
  limitMs: number;
  ask(docker: Dockerode, signal: AbortSignal): Promise<T>;
}

/**
 * Client of one daemon. No connection is kept between calls, so a restarted daemon is reached by the next call. Every
 * call ends within its limit. Errors are ServiceErrors; UNAVAILABLE for every failure of the daemon.
 */
export class Daemon {
  readonly address: string;
  readonly #options: Dockerode.DockerOptions;
  #docker: Promise<Dockerode> | undefined;

  constructor(address: DaemonAddress) {
    this.address = addressText(address);
    this.#options = clientOptions(address);
  }

  /** Makes one call; UNAVAILABLE if it takes more than `limitMs` milliseconds. `doing` names it in the error. */
  async call<T>({ doing, limitMs, ask }: Call<T>): Promise<T> {
    const signal = AbortSignal.timeout(limitMs);
    try {
      const docker = await this.docker();
      const answer = await Promise.race([ask(docker, signal), whenAborted(signal)]);
      // The client returns a body that it could not parse as it is.
      if (Buffer.isBuffer(answer) && answer.length > 0) throw new Error('its answer is not JSON');
      return answer;
    } catch (error) {
      throw daemonError(error, { address: this.address, doing, limitMs: signal.aborted ? limitMs : undefined });
    }
  }

  /** Loaded at first use, so that servers without Docker do not pay for it. */
  docker(): Promise<Dockerode> {
    this.#docker ??= import('dockerode').then(({ default: Docker }) => new Docker({ ...this.#options }));
    return this.#docker;
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** Sets every option that the client would otherwise read from DOCKER_HOST and related variables. */
function clientOptions(address: DaemonAddress): Dockerode.DockerOptions {
  const none = { host: undefined, port: undefined, socketPath: undefined, ca: undefined, cert: undefined };
  const cleared = { ...none, key: undefined, username: undefined, timeout: undefined, pathPrefix: '/' };
  const options =
    address.kind === 'unix'
      ? { ...cleared, protocol: 'http', socketPath: address.socketPath, agent: failOnTruncatedAnswer(new HttpAgent()) }
      : {
          ...cleared,
          protocol: address.tls ? 'https' : 'http',
          host: address.hostname.includes(':') ? `[${address.hostname}]` : address.hostname,
          port: address.port,
          agent: failOnTruncatedAnswer(address.tls ? new HttpsAgent() : new HttpAgent()),
          ...address.tls,
        };
  return options as Dockerode.DockerOptions;
}
