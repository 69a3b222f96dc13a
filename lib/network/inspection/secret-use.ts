import type { BoundSecret } from '../secrets/bound-secret.ts';
import { matchesHost } from '../secrets/hosts.ts';
import { Needle } from './needle.ts';
import { reflectedForms } from './reflected-forms.ts';
import { FoundError, type Replacement, Replacer } from './replacer.ts';

type Part = BoundSecret['in'][number];
type Encode = (value: string) => string;

/**
 * Bytes by which a part of a request may grow. The threat: a placeholder has 28 bytes, its value up to 64 KiB, and a program
 * can send thousands of placeholders at once.
 */
const MOST_ADDED = 262_144;

/** Characters of the shortest form of a value. */
const LEAST_FORM = 8;

const PLAIN: Encode = (value) => value;
const IN_JSON: Encode = (value) => JSON.stringify(value).slice(1, -1);

/**
 * The secrets of one sandbox, as requests to one host may use them. A placeholder of a secret for other hosts is refused
 * by a FoundError, wherever it is. In a part of the request that is not one of the secret's it stays as it is. A header, the
 * URL or a body that would grow too much is refused by a TooLongError.
 */
export class SecretUse {
  readonly #own: readonly (BoundSecret & Search)[];
  readonly #foreign: readonly Replacement[];
  #reflected: readonly Replacement[] | undefined;

  constructor(secrets: readonly BoundSecret[], host: string) {
    const all = secrets.map((each) => ({ ...each, ...searchOf(each) }));
    const isOwn = ({ hosts }: BoundSecret) => hosts.some((pattern) => matchesHost(pattern, host));
    this.#own = all.filter(isOwn);
    this.#foreign = all
      .filter((each) => !isOwn(each))
      .map(({ needle, name }) => ({ from: needle, to: undefined, name }));
  }

  /** Whether the host may get a value. */
  get isTrusted(): boolean {
    return this.#own.length > 0;
  }

  /** Path and query. */
  url(url: string): string {
    return this.#replacerFor('query', encodeURIComponent).whole(Buffer.from(url, 'latin1')).toString('latin1');
  }

  /** The value of a header of a request, with the bytes of its text as characters. `name`: of the header, in lower case. */
  header(value: string, name: string): string {
    const replacer = this.#replacerFor('header', PLAIN, name);
    const basic = /^(basic +)([a-z0-9+/_-]+=*) *$/i.exec(value);
    if (basic !== null) {
      const decoded = Buffer.from(basic[2]!, 'base64');
      const replaced = replacer.whole(decoded);
      if (!replaced.equals(decoded)) return basic[1]! + replaced.toString('base64');
    }
    return replacer.whole(Buffer.from(value, 'latin1')).toString('latin1');
  }

  /** For the body of a request; undefined: it can pass as it is. */
  body(contentType: string): Replacer | undefined {
    const isUsed = this.#own.some((each) => each.in.includes('body')) || this.#foreign.length > 0;
    if (!isUsed) return undefined;
    return this.#replacerFor('body', encoderOf(contentType.split(';')[0]!.trim().toLowerCase()));
  }

  /** For what the host answers: the values become placeholders again. undefined: it can pass as it is. */
  reflected(): Replacer | undefined {
    if (!this.isTrusted) return undefined;
    // The longest first: a value may begin with another one.
    this.#reflected ??= this.#own
      .flatMap(({ reflected }) => reflected())
      .sort((a, b) => b.from.bytes.length - a.from.bytes.length);
    return new Replacer(this.#reflected);
  }

  answered(text: string): string {
    const replacer = text.length < LEAST_FORM ? undefined : this.reflected();
    return replacer === undefined ? text : replacer.whole(Buffer.from(text, 'latin1')).toString('latin1');
  }

  /** `header`: the name of the header that is searched. */
  #replacerFor(part: Part, encode: Encode, header?: string): Replacer {
    const own = this.#own
      .filter((each) => each.in.includes(part) && (part !== 'header' || (each.header ?? header) === header))
      .map(({ needle, value, name }) => ({ from: needle, to: Buffer.from(encode(value)), name }));
    return new Replacer([...own, ...this.#foreign], MOST_ADDED);
  }
}

/** What is searched for, for one secret. */
interface Search {
  needle: Needle;
  reflected(): readonly Replacement[];
}

/** One for all hosts: that of a long value has a hundred times its size. */
const prepared = new WeakMap<BoundSecret, Search>();

function searchOf(secret: BoundSecret): Search {
  const known = prepared.get(secret);
  if (known !== undefined) return known;
  const { value, placeholder, name } = secret;
  let forms: readonly Replacement[] | undefined;
  const reflected = () => {
    forms ??= reflectedForms(value, placeholder).map(({ text, shown }) => ({
      from: new Needle(text),
      to: Buffer.from(shown),
      name,
    }));
    return forms;
  };
  const search = { needle: new Needle(placeholder), reflected };
  prepared.set(secret, search);
  return search;
}

/** By the list, which is another one after each change, and by host. */
const uses = new WeakMap<readonly BoundSecret[], Map<string, SecretUse>>();

/** What is searched for is prepared once. */
export function secretUse(secrets: readonly BoundSecret[], host: string): SecretUse {
  const known = uses.get(secrets) ?? new Map<string, SecretUse>();
  uses.set(secrets, known);
  const use = known.get(host) ?? new SecretUse(secrets, host);
  // A wildcard of a rule allows any number of hosts.
  if (known.size < 100) known.set(host, use);
  return use;
}

/** The secret whose placeholder is in one of the texts; undefined: none. */
export function secretNamedIn(texts: readonly string[], secrets: readonly BoundSecret[]): string | undefined {
  // No secret is for the host without a name.
  const use = secretUse(secrets, '');
  try {
    for (const text of texts) use.header(text, '');
    return undefined;
  } catch (error) {
    if (error instanceof FoundError) return error.secret;
    throw error;
  }
}

function encoderOf(type: string): Encode {
  if (type === 'application/x-www-form-urlencoded') return encodeURIComponent;
  return type === 'application/json' || type.endsWith('+json') ? IN_JSON : PLAIN;
}
