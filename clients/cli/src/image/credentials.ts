import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_HOST } from './reference.ts';

/** Under which `docker login` stores those of its default registry. */
const DEFAULT_KEY = `https://index.${DEFAULT_HOST}/v1/`;

interface DockerConfig {
  auths?: Record<string, { auth?: string }>;
  credHelpers?: Record<string, string>;
  credsStore?: string;
}

/** "USER:PASSWORD" in base64 that `docker login` has stored for a registry; undefined: none. */
export async function credentialsOf(
  host: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const directory = env.DOCKER_CONFIG ?? join(env.HOME ?? homedir(), '.docker');
  const text = await readFile(join(directory, 'config.json'), 'utf8').catch(() => '{}');
  const { auths = {}, credHelpers = {}, credsStore }: DockerConfig = JSON.parse(text);
  const key = host === DEFAULT_HOST ? DEFAULT_KEY : host;
  const stored = [key, `https://${key}`].map((each) => auths[each]?.auth).find((auth) => auth);
  if (stored !== undefined) return stored;
  const helper = credHelpers[key] ?? credsStore;
  // The name of a program, and no path.
  return helper !== undefined && /^[\w.-]+$/.test(helper) ? fromHelper(helper, key) : undefined;
}

function fromHelper(helper: string, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = execFile(`docker-credential-${helper}`, ['get'], (error, stdout) => {
      // Also: it has none for this host.
      if (error) return resolve(undefined);
      const { Username, Secret } = JSON.parse(stdout) as { Username: string; Secret: string };
      resolve(Buffer.from(`${Username}:${Secret}`).toString('base64'));
    });
    child.stdin?.on('error', () => undefined).end(host);
  });
}
