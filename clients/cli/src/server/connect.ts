import { Paddock } from 'paddock-sandbox';
import { CliError } from '../command-line/errors.ts';
import { localDirectory, readLocal } from '../local/record.ts';
import type { Output } from '../output/output.ts';
import { serverSettingsDigest } from './config-file.ts';
import type { Connection } from './connection.ts';

export interface Connect {
  env: Readonly<Record<string, string | undefined>>;
  out: Output;
  signal: AbortSignal;
  /** Start a local server if there is none. */
  start: boolean;
}

/** Whoever may use this machine's loopback interface has an answer within this time. */
const HEALTH_MS = 2000;

/** The server: the one that is named; else the local one that was started here; else that of the default address. */
export async function connect(connection: Connection, how: Connect): Promise<Paddock> {
  const { url, key, from } = connection;
  if (from !== 'default') return new Paddock({ url, key });
  const directory = localDirectory(how.env);
  const running = readLocal(directory);
  if (running) {
    if (running.settings !== serverSettingsDigest(how.env)) {
      how.out.note(
        'paddock: the settings of the local server were changed since it started: "paddock server stop", then they hold',
      );
    }
    return new Paddock({ url: running.url, key: running.key });
  }
  const paddock = new Paddock({ url, key });
  const { portOwner } = await import('../local/port-owner.ts');
  const owner = portOwner(Number(new URL(url).port));
  if (owner !== undefined && owner !== 0 && owner !== process.geteuid?.()) {
    throw new CliError(`user ${owner} of this machine listens at ${url}: set PADDOCK_URL if you trust this server`);
  }
  if (await answers(paddock, how.signal)) return paddock;
  if (!how.start)
    throw new CliError(`no server runs at ${url}: start one with "paddock server start", or set PADDOCK_URL`);
  return startedOnDemand(directory, how);
}

async function answers(paddock: Paddock, signal: AbortSignal): Promise<boolean> {
  try {
    const once = new Paddock({ ...paddock.api.settings, maxRetries: 0 });
    await once.health({ signal: AbortSignal.any([signal, AbortSignal.timeout(HEALTH_MS)]) });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function startedOnDemand(directory: string, { env, out, signal }: Connect): Promise<Paddock> {
  const { startLocal } = await import('../local/start.ts');
  const { url, key, pid } = await startLocal(directory, { env, signal });
  out.note(
    `paddock: no server was configured: started one (process ${pid}, state in ${directory}); "paddock server stop" ends it`,
  );
  return new Paddock({ url, key });
}
