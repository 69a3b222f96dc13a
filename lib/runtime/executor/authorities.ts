import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../../linux/errno.ts';
import { AGENT_DIR } from './places.ts';

/** Name of the file in the agent directory with the authorities that the commands of a sandbox trust. */
const FILE = 'authorities.pem';
const PATH = `${AGENT_DIR}/${FILE}`;

/** The variables by which programs find them: no program has one of its own that is common to all. */
export const TRUST: Readonly<Record<string, string>> = {
  AWS_CA_BUNDLE: PATH,
  CARGO_HTTP_CAINFO: PATH,
  CURL_CA_BUNDLE: PATH,
  DENO_CERT: PATH,
  GIT_SSL_CAINFO: PATH,
  NODE_EXTRA_CA_CERTS: PATH,
  PIP_CERT: PATH,
  REQUESTS_CA_BUNDLE: PATH,
  SSL_CERT_FILE: PATH,
};

/** Puts the file into an agent directory, as a link to one that all sandboxes share. It appears whole or not at all. */
export function placeAuthorities(agentDir: string, authorities: string): void {
  const shared = join(dirname(agentDir), 'programs');
  const from = join(shared, `authorities-${createHash('sha256').update(authorities).digest('hex').slice(0, 16)}`);
  const to = join(agentDir, FILE);
  rmSync(`${to}.new`, { force: true });
  try {
    linkSync(from, `${to}.new`);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(shared, { recursive: true, mode: 0o711 });
    rmSync(`${from}.new`, { force: true });
    writeFileSync(`${from}.new`, authorities, { mode: 0o444 });
    renameSync(`${from}.new`, from);
    linkSync(from, `${to}.new`);
  }
  renameSync(`${to}.new`, to);
}
