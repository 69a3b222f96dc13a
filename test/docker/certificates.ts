import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const openssl = (args: string[], cwd: string) => promisify(execFile)('openssl', args, { cwd });

/** Creates ca.pem, cert.pem and key.pem in `directory`/server and /client, for dockerd and its clients. */
export async function makeCertificates(directory: string): Promise<{ server: string; client: string }> {
  await openssl(
    [
      'req',
      '-x509',
      '-newkey',
      'ed25519',
      '-nodes',
      '-keyout',
      'ca-key.pem',
      '-out',
      'ca.pem',
      '-days',
      '2',
      '-subj',
      '/CN=ca',
    ],
    directory,
  );
  const extensions = {
    server: 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth',
    client: 'extendedKeyUsage=clientAuth',
  };
  for (const [name, extension] of Object.entries(extensions)) {
    await mkdir(join(directory, name));
    await writeFile(join(directory, name, 'extensions'), extension);
    const sign = `-req -in ${name}/csr.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile ${name}/extensions`;
    await openssl(
      `req -newkey ed25519 -nodes -keyout ${name}/key.pem -out ${name}/csr.pem -subj /CN=${name}`.split(' '),
      directory,
    );
    await openssl(['x509', ...sign.split(' '), '-out', `${name}/cert.pem`], directory);
    await openssl(['x509', '-in', 'ca.pem', '-out', `${name}/ca.pem`], directory);
  }
  return { server: join(directory, 'server'), client: join(directory, 'client') };
}
