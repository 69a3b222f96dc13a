import { UsageError } from '../errors.ts';

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

/** "HOST/NAME", "HOST/NAME:TAG" or "HOST/NAME@sha256:…". */
export function referenceOf(text: string): Reference {
  const [host = '', ...rest] = text.split('/');
  const [, repository = '', tag, digest] = /^([^:@]+)(?::([^@]+))?(?:@(.+))?$/.exec(rest.join('/')) ?? [];
  const version = digest ?? tag ?? 'latest';
  if (!HOST.test(host) || !REPOSITORY.test(repository) || !VERSION.test(version)) {
    throw new UsageError(`an image is HOST/NAME:TAG, with the host of its registry, not ${JSON.stringify(text)}`);
  }
  return { host, repository, version };
}

/** Nobody else reads or changes what goes over loopback: there is no TLS then. */
export const baseOf = (host: string): string =>
  `${/^(localhost|127(\.\d+){3})(:\d+)?$/.test(host) ? 'http' : 'https'}://${host}`;
