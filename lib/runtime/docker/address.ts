import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';

/**
 * Environment variables of Docker's own clients that select the daemon. Passed in; never read from the process here.
 */
export interface DockerEnvironment {
  readonly DOCKER_HOST?: string | undefined;
  /** If not empty, `tcp://` uses TLS and the daemon's certificate is verified. */
  readonly DOCKER_TLS_VERIFY?: string | undefined;
  /** Directory of ca.pem, cert.pem and key.pem. */
  readonly DOCKER_CERT_PATH?: string | undefined;
}

interface TlsFiles {
  ca: Buffer;
  cert: Buffer;
  key: Buffer;
}

export type DaemonAddress =
  | { kind: 'unix'; socketPath: string }
  | { kind: 'tcp'; hostname: string; port: number; tls?: TlsFiles };

const DEFAULT_HOST = 'unix:///var/run/docker.sock';
const TLS_FILES = ['ca', 'cert', 'key'] as const;
const ALLOWED = 'unix:///path, tcp://host:port or https://host:port';

/**
 * Returns the address of the daemon: `host`, else DOCKER_HOST, else the default socket. TLS is used for https://, and
 * for tcp:// with DOCKER_TLS_VERIFY; its files are in DOCKER_CERT_PATH. Throws FAILED_PRECONDITION for any other
 * scheme, including ssh.
 */
export function daemonAddress(host: string, environment: DockerEnvironment): DaemonAddress {
  const [given, name] = host
    ? [host, 'runtime.docker.host']
    : environment.DOCKER_HOST
      ? [environment.DOCKER_HOST, 'DOCKER_HOST']
      : [DEFAULT_HOST, 'the default'];
  const refused = () => new ServiceError('FAILED_PRECONDITION', `${name} ${JSON.stringify(given)}: must be ${ALLOWED}`);

  if (given.startsWith('unix://')) {
    const socketPath = given.slice('unix://'.length);
    if (!socketPath.startsWith('/') || socketPath.includes('\0')) throw refused();
    return { kind: 'unix', socketPath };
  }
  const match = /^(tcp|https?):\/\/(\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/.exec(given);
  if (!match) throw refused();
  const [, protocol, hostname, port] = match;
  const secure = protocol === 'https' || (protocol === 'tcp' && Boolean(environment.DOCKER_TLS_VERIFY));
  const number = port === undefined ? (secure ? 2376 : 2375) : Number(port);
  if (number < 1 || number > 65_535) throw refused();
  return {
    kind: 'tcp',
    hostname: (hostname as string).replace(/^\[|\]$/g, ''),
    port: number,
    ...(secure && { tls: readTlsFiles(environment.DOCKER_CERT_PATH) }),
  };
}

function readTlsFiles(directory: string | undefined): TlsFiles {
  if (!directory) {
    throw new ServiceError('FAILED_PRECONDITION', 'DOCKER_CERT_PATH: TLS to the Docker daemon needs its directory');
  }
  const [ca, cert, key] = TLS_FILES.map((file) => {
    try {
      return readFileSync(join(directory, `${file}.pem`));
    } catch (error) {
      const code = errorCode(error);
      throw new ServiceError('FAILED_PRECONDITION', `DOCKER_CERT_PATH: ${file}.pem cannot be read: ${code}`);
    }
  }) as [Buffer, Buffer, Buffer];
  return { ca, cert, key };
}

/** The address for messages and logs. */
export function addressText(address: DaemonAddress): string {
  if (address.kind === 'unix') return `unix://${address.socketPath}`;
  const hostname = address.hostname.includes(':') ? `[${address.hostname}]` : address.hostname;
  return `${address.tls ? 'https' : 'tcp'}://${hostname}:${address.port}`;
}
