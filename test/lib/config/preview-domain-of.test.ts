import { expect, it } from 'vitest';
import { previewDomainOf } from '../../../lib/config/preview-domain-of.ts';
import type { Config } from '../../../lib/config/schema.ts';
import { placeOfLabel, portUrl } from '../../../lib/network/ports/preview-domain.ts';

const urlOf = (previewDomain: string, certificate = '', port = 8080) => {
  const server = { previewDomain, tls: { certificate }, httpAddr: { host: '', port } } as Config['server'];
  return portUrl(previewDomainOf({ server }), 'sb_1', 3000);
};

it('reaches an opened port as the domain says, or as the listener', () => {
  expect(urlOf('')).toBe('/v1/sandboxes/sb_1/ports/3000/proxy/');
  expect(urlOf('p.test')).toBe('http://p3000-1.p.test:8080/');
  expect(urlOf('p.test', '/c')).toBe('https://p3000-1.p.test:8080/');
  expect(urlOf('p.test', '/c', 443)).toBe('https://p3000-1.p.test/');
  expect(urlOf('p.test:90')).toBe('http://p3000-1.p.test:90/');
  expect(urlOf('https://p.test')).toBe('https://p3000-1.p.test/');
  expect(urlOf('https://p.test:90')).toBe('https://p3000-1.p.test:90/');
});

it('finds the place that a label stands for', () => {
  expect(placeOfLabel('p65535-0a')).toEqual({ sandboxId: 'sb_0a', port: 65_535 });
  for (const label of ['p65536-0a', 'p0-0a', 'p01-0a', 'p1-', 'p1', 'p1-A', 'xp1-a', 'p1-a-b']) {
    expect(placeOfLabel(label)).toBeUndefined();
  }
});
