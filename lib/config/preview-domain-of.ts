import type { PreviewDomain } from '../network/ports/preview-domain.ts';
import type { Config } from './schema.ts';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** The domain of opened ports, as browsers reach it: what the configuration does not say is that of the REST listener. */
export function previewDomainOf({ server }: Pick<Config, 'server'>): PreviewDomain | undefined {
  const { previewDomain, tls, httpAddr } = server;
  if (previewDomain === '') return undefined;
  const [, given, name = '', port = ''] = /^(?:(https?:)\/\/)?([^:]+)(:\d+)?$/.exec(previewDomain) ?? [];
  const scheme = given ?? (tls.certificate === '' ? 'http:' : 'https:');
  const isDefault = httpAddr.port === 0 || httpAddr.port === DEFAULT_PORTS[scheme];
  return { name, scheme, port: port !== '' || given !== undefined || isDefault ? port : `:${httpAddr.port}` };
}
