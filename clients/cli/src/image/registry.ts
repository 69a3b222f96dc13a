import { CliError } from '../command-line/errors.ts';
import { baseOf, type Reference } from './reference.ts';

const JSON_BYTES = 4 * 1024 * 1024;

interface How {
  /** "USER:PASSWORD" in base64. */
  credentials: string | undefined;
  signal: AbortSignal;
}

/** Reads a repository by the distribution API of OCI. */
export class Registry {
  readonly #reference: Reference;
  readonly #how: How;
  #authorization: string | undefined;

  constructor(reference: Reference, how: How) {
    this.#reference = reference;
    this.#how = how;
  }

  /** The answer to a GET below the repository; `accept`: types of manifests. */
  async get(path: string, accept = '*/*'): Promise<Response> {
    const { host, repository } = this.#reference;
    const url = `${baseOf(host)}/v2/${repository}/${path}`;
    let answer = await this.#fetch(url, accept);
    const challenge = answer.headers.get('www-authenticate');
    if (answer.status === 401 && challenge !== null && this.#authorization === undefined) {
      await answer.body?.cancel();
      this.#authorization = await this.#authorized(challenge);
      answer = await this.#fetch(url, accept);
    }
    if (answer.ok && answer.body !== null) return answer;
    await answer.body?.cancel();
    throw new CliError(sentenceOf(answer.status, this.#reference));
  }

  /** What is small enough to be parsed. */
  async bytes(path: string, accept?: string): Promise<Uint8Array> {
    return whole(await this.get(path, accept), path);
  }

  async #fetch(url: string, accept: string): Promise<Response> {
    const authorization = this.#authorization;
    const headers = { accept, ...(authorization !== undefined && { authorization }) };
    try {
      // A redirect to another host gets no authorization.
      return await fetch(url, { headers, signal: this.#how.signal });
    } catch (error) {
      this.#how.signal.throwIfAborted();
      const { cause } = error as { cause?: { message?: string } };
      throw new CliError(`cannot reach the registry ${this.#reference.host}: ${cause?.message ?? error}`, {
        cause: error,
      });
    }
  }

  /** Of a challenge: the credentials themselves, or a token for them. */
  async #authorized(challenge: string): Promise<string> {
    const { host, repository } = this.#reference;
    const { credentials } = this.#how;
    const basic = credentials === undefined ? undefined : `Basic ${credentials}`;
    if (/^basic\b/i.test(challenge)) {
      if (basic === undefined) throw new CliError(`the registry ${host} needs a login: docker login ${host}`);
      return basic;
    }
    const fields = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]));
    const place = fields.get('realm') ?? '';
    const realm = URL.canParse(place) ? new URL(place) : null;
    // The credentials go there.
    if (realm === null || (realm.protocol !== 'https:' && !baseOf(realm.host).startsWith('http:'))) {
      throw new CliError(`the registry ${host} names no place of its tokens with https`);
    }
    const service = fields.get('service');
    if (service !== undefined) realm.searchParams.set('service', service);
    realm.searchParams.set('scope', fields.get('scope') ?? `repository:${repository}:pull`);
    const answer = await fetch(realm, { headers: basic ? { authorization: basic } : {}, signal: this.#how.signal });
    if (!answer.ok) throw new CliError(sentenceOf(answer.status, this.#reference));
    const found = JSON.parse(Buffer.from(await whole(answer, 'the token')).toString()) as Record<string, unknown>;
    return `Bearer ${found.token ?? found.access_token}`;
  }
}

async function whole(answer: Response, what: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body!) {
    size += part.length;
    if (size > JSON_BYTES) throw new CliError(`${what} of the registry has more than ${JSON_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function sentenceOf(status: number, { host, repository, version }: Reference): string {
  if (status === 401 || status === 403) return `the registry ${host} refuses ${repository}: docker login ${host}`;
  if (status === 404) return `the registry ${host} has no ${repository}:${version}`;
  return `the registry ${host} answers with the status ${status}`;
}
