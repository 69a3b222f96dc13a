import { copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Authority } from '../certificates.ts';

/** Creates ca.pem, cert.pem and key.pem in `directory`/server and /client, for dockerd and its clients. */
export async function makeCertificates(directory: string): Promise<{ server: string; client: string }> {
  const authority = await Authority.create(directory);
  for (const usage of ['server', 'client'] as const) {
    const { certificate, key } = await authority.issue(`${usage}-pair`, usage);
    await mkdir(join(directory, usage));
    await rename(certificate, join(directory, usage, 'cert.pem'));
    await rename(key, join(directory, usage, 'key.pem'));
    await copyFile(authority.certificate, join(directory, usage, 'ca.pem'));
  }
  return { server: join(directory, 'server'), client: join(directory, 'client') };
}
