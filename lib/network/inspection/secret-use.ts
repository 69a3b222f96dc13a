import type { BoundSecret } from '../secrets/bound-secret.ts';
import { matchesHost } from '../secrets/hosts.ts';
import { FoundError, type Replacement, Replacer } from './replacer.ts';

type Part = BoundSecret['in'][number];

/**
 * The secrets of one sandbox, as requests to one host may use them. A placeholder of a secret for other hosts is refused
 * by a FoundError, wherever it is. In a part of the request that is not one of the secret's it stays as it is.
 */
export class SecretUse {
  readonly #own: readonly BoundSecret[];
  readonly #foreign: readonly Replacement[];
  readonly #reflected: readonly Replacement[];

  constructor(secrets: readonly BoundSecret[], host: string) {
    const isOwn = ({ hosts }: BoundSecret) => hosts.some((pattern) => matchesHost(pattern, host));
    this.#own = secrets.filter(isOwn);
    this.#foreign = secrets
      .filter((each) => !isOwn(each))
      .map(({ placeholder, name }) => ({ from: Buffer.from(placeholder), to: undefined, name }));
    this.#reflected = this.#own.flatMap(({ value, placeholder, name }) =>
      [...new Set([value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)])].map((form) => ({
        from: Buffer.from(form),
        to: Buffer.from(placeholder),
        name,
      })),
    );
  }

  /** Whether the host may get a value. */
  get isTrusted(): boolean {
    return this.#own.length > 0;
  }

  /** Path and query. */
  url(url: string): string {
    return this.#replacerFor('query', encodeURIComponent).whole(Buffer.from(url, 'latin1')).toString('latin1');
  }

  /** The value of a header of a request, with the bytes of its text as characters. */
  header(value: string): string {
    const replacer = () => this.#replacerFor('header', (secret) => secret);
    const basic = /^(basic +)([a-z0-9+/_-]+=*) *$/i.exec(value);
    if (basic !== null) {
      const decoded = Buffer.from(basic[2]!, 'base64');
      const replaced = replacer().whole(decoded);
      if (!replaced.equals(decoded)) return basic[1]! + replaced.toString('base64');
    }
    return replacer().whole(Buffer.from(value, 'latin1')).toString('latin1');
  }

  /** For the body of a request; undefined: it can pass as it is. */
  body(contentType: string): Replacer | undefined {
    const type = contentType.split(';')[0]!.trim().toLowerCase();
    const replacer = this.#replacerFor('body', encoderOf(type));
    return this.#own.some((each) => each.in.includes('body')) || this.#foreign.length > 0 ? replacer : undefined;
  }

  /** For what the host answers: the values become placeholders again. undefined: it can pass as it is. */
  reflected(): Replacer | undefined {
    return this.isTrusted ? new Replacer(this.#reflected) : undefined;
  }

  answered(text: string): string {
    const replacer = this.reflected();
    return replacer === undefined ? text : replacer.whole(Buffer.from(text, 'latin1')).toString('latin1');
  }

  #replacerFor(part: Part, encode: (value: string) => string): Replacer {
    const own = this.#own
      .filter((each) => each.in.includes(part))
      .map(({ placeholder, value, name }) => ({
        from: Buffer.from(placeholder),
        to: Buffer.from(encode(value)),
        name,
      }));
    return new Replacer([...own, ...this.#foreign]);
  }
}

/** The secret whose placeholder is in one of the texts; undefined: none. */
export function secretNamedIn(texts: readonly string[], secrets: readonly BoundSecret[]): string | undefined {
  const use = new SecretUse(
    secrets.map((each) => ({ ...each, hosts: [] })),
    '',
  );
  try {
    for (const text of texts) use.header(text);
    return undefined;
  } catch (error) {
    if (error instanceof FoundError) return error.secret;
    throw error;
  }
}

function encoderOf(type: string): (value: string) => string {
  if (type === 'application/x-www-form-urlencoded') return encodeURIComponent;
  if (type === 'application/json' || type.endsWith('+json')) return (value) => JSON.stringify(value).slice(1, -1);
  return (value) => value;
}
