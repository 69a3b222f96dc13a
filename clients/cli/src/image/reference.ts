import { UsageError } from '../command-line/errors.ts';

/** An image of a registry. */
export interface Reference {
  /** "registry.example.com", with ":PORT" if there is one. */
  host: string;
  repository: string;
  /** A tag, or a digest. */
  version: string;
}

const HOST = /^(localhost|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d+)?$|^[a-z0-9-]+:\d+$/i;
const REPOSITORY = /^[a-z0-9]+([._/-]+[a-z0-9]+)*$/;
const VERSION = /^(\w[\w.-]{0,127}|sha256:[0-9a-f]{64})$/;

/** Of names without a host, as for docker. */
export const DEFAULT_HOST = 'docker.io';

/** "NAME", "HOST/NAME", either with ":TAG" or "@sha256:…". A name without a host or an owner is one of docker's library. */
export function referenceOf(text: string): Reference {
  const [, name = '', tag, digest] = /^((?:[^/@]*\/)*[^/:@]+)(?::([^/:@]+))?(?:@(.+))?$/.exec(text) ?? [];
  const [first = '', ...rest] = name.split('/');
  const isHost = rest.length > 0 && (first === 'localhost' || /[.:]/.test(first));
  const host = isHost ? first : DEFAULT_HOST;
  const named = isHost ? rest.join('/') : name;
  const repository = host === DEFAULT_HOST && !named.includes('/') ? `library/${named}` : named;
  const version = digest ?? tag ?? 'latest';
  if (!HOST.test(host) || !REPOSITORY.test(repository) || !VERSION.test(version)) {
    throw new UsageError(`an image is NAME:TAG or HOST/NAME:TAG, not ${JSON.stringify(text)}`);
  }
  return { host, repository, version };
}

/** Nobody else reads or changes what goes over loopback: there is no TLS then. */
export function baseOf(host: string): string {
  if (host === DEFAULT_HOST) return `https://registry-1.${DEFAULT_HOST}`;
  return `${/^(localhost|127(\.\d+){3})(:\d+)?$/.test(host) ? 'http' : 'https'}://${host}`;
}
