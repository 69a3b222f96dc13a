import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { addressText, daemonAddress } from '../../../../lib/runtime/docker/address.ts';

const directories: string[] = [];
afterEach(() => Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true }))));

async function certificates(...names: string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'paddock-certs-'));
  directories.push(directory);
  for (const name of names) await writeFile(join(directory, `${name}.pem`), name);
  return directory;
}

describe('the address of the Docker daemon', () => {
  it('is the default socket without any setting', () => {
    expect(daemonAddress('', {})).toEqual({ kind: 'unix', socketPath: '/var/run/docker.sock' });
    expect(daemonAddress('', { DOCKER_HOST: '' })).toEqual({ kind: 'unix', socketPath: '/var/run/docker.sock' });
  });

  it('is DOCKER_HOST if the configuration names none', () => {
    expect(daemonAddress('', { DOCKER_HOST: 'unix:///run/d.sock' })).toEqual({
      kind: 'unix',
      socketPath: '/run/d.sock',
    });
  });

  it('is that of the configuration before DOCKER_HOST', () => {
    expect(daemonAddress('unix:///a', { DOCKER_HOST: 'unix:///b' })).toEqual({ kind: 'unix', socketPath: '/a' });
  });

  it.each([
    ['tcp://127.0.0.1:2375', { kind: 'tcp', hostname: '127.0.0.1', port: 2375 }],
    ['tcp://docker', { kind: 'tcp', hostname: 'docker', port: 2375 }],
    ['http://docker:80/', { kind: 'tcp', hostname: 'docker', port: 80 }],
    ['tcp://[::1]:2375', { kind: 'tcp', hostname: '::1', port: 2375 }],
  ])('accepts %s', (host, address) => {
    expect(daemonAddress(host, {})).toEqual(address);
    expect(daemonAddress(addressText(daemonAddress(host, {})), {})).toEqual(address);
  });

  it.each([
    ['https://docker', {}],
    ['tcp://docker', { DOCKER_TLS_VERIFY: '1' }],
  ])('uses TLS for %s with %j', async (host, environment) => {
    const DOCKER_CERT_PATH = await certificates('ca', 'cert', 'key');
    expect(daemonAddress(host, { ...environment, DOCKER_CERT_PATH })).toEqual({
      kind: 'tcp',
      hostname: 'docker',
      port: 2376,
      tls: { ca: Buffer.from('ca'), cert: Buffer.from('cert'), key: Buffer.from('key') },
    });
  });

  it('is refused with an error that names the missing TLS file', async () => {
    const DOCKER_CERT_PATH = await certificates('ca', 'cert');
    expect(() => daemonAddress('https://docker', { DOCKER_CERT_PATH })).toThrow('key.pem cannot be read: ENOENT');
    expect(() => daemonAddress('https://docker', {})).toThrow('DOCKER_CERT_PATH');
  });

  it.each([
    'ssh://docker',
    'unix://relative',
    'unix://',
    'npipe:////./pipe/x',
    'docker',
    'tcp://',
    'tcp://a:0',
    'tcp://a:99999',
    'tcp://a/b',
    'tcp://u@a',
  ])('refuses %s with an error that names the allowed forms', (host) => {
    expect(() => daemonAddress(host, {})).toThrow(/^runtime\.docker\.host ".*": must be unix:\/\/\/path, tcp:/);
    expect(() => daemonAddress('', { DOCKER_HOST: host })).toThrow(/^DOCKER_HOST ".*": must be/);
  });
});
