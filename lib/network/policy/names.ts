import { domainToASCII, domainToUnicode } from 'node:url';
import { parseAddress } from './addresses.ts';

/** Labels of names in the DNS; the underscore is used by some hosts. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const LONGEST_NAME = 253;
const FORBIDDEN = /[\0-\x20\x7f/\\:@?#%[\]<>^|*,;"'`(){}]/;
const NOT_ASCII = /[^\0-\x7f]/;
/** A number in a form of inet_aton(3). */
const NUMBER = /^(?:\d+|0x[0-9a-f]*)$/;

/**
 * The name as it is compared: lower case, ASCII (IDNA), without the dot at the end. Otherwise the problem, as a predicate of a
 * sentence.
 */
export function canonicalName(text: string): { name: string } | { problem: string } {
  if (parseAddress(text.replace(/^\[(.*)\]$/, '$1')) !== undefined)
    return { problem: 'is an address and no name: use cidr' };
  if (FORBIDDEN.test(text)) return { problem: 'must be the name of a host alone, like api.github.com' };
  const ascii = NOT_ASCII.test(text) ? domainToASCII(text) : text.toLowerCase();
  const name = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
  if (name === '') return { problem: NOT_ASCII.test(text) ? 'is no name that IDNA permits' : 'must not be empty' };
  const labels = name.split('.');
  if (name.length > LONGEST_NAME || !labels.every((label) => LABEL.test(label))) {
    return {
      problem: 'must be a name of labels of 1 to 63 letters, digits, "-" and "_", at most 253 characters in all',
    };
  }
  // Programs read such a name as an address.
  if (NUMBER.test(labels.at(-1)!)) return { problem: 'is an address in an unusual form, and no name: use cidr' };
  if (labels.some((label) => label.startsWith('xn--') && !isIdna(label))) {
    return { problem: 'is no name that IDNA permits' };
  }
  return { name };
}

/** A name, or `*.` and a name. */
export function canonicalPattern(text: string): { name: string } | { problem: string } {
  if (!text.includes('*')) return canonicalName(text);
  const rest = text.startsWith('*.') ? text.slice(2) : '';
  if (rest === '' || rest.includes('*')) {
    return { problem: 'may have "*" as its whole first label only, like *.example.org' };
  }
  const below = canonicalName(rest);
  return 'name' in below ? { name: `*.${below.name}` } : below;
}

/** Both canonical. `*.example.org` matches all names below example.org, and not that itself. */
export function matchesName(pattern: string, name: string): boolean {
  return pattern.startsWith('*.')
    ? name.length > pattern.length - 1 && name.endsWith(pattern.slice(1))
    : name === pattern;
}

/** Node 24 leaves a label as it is that is no form of another one. */
function isIdna(label: string): boolean {
  const unicode = domainToUnicode(label);
  return unicode !== label && domainToASCII(unicode) === label;
}
