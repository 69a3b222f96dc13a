import { startGrpc } from '../adapters/grpc.ts';
import { addressText } from '../adapters/host-name.ts';
import { startHttp } from '../adapters/http.ts';
import { ServerTls } from '../adapters/tls/server-tls.ts';
import { CleanupStack } from '../lib/cleanup-stack.ts';
import { collectAlone } from '../lib/collect-alone.ts';
import { type Composition, compose } from '../lib/composition.ts';
import type { Invocation } from '../lib/config/load.ts';
import { previewDomainOf } from '../lib/config/preview-domain-of.ts';
import { ServiceError } from '../lib/errors.ts';
import { errorCode } from '../lib/linux/errno.ts';
import { createLog, type Log } from '../lib/log.ts';
import { raisePriority } from '../lib/priority.ts';
import type { ThreadEntry } from '../lib/threads/thread-entry.ts';
import { startCron } from './cron.ts';
import { warningOfOpenAddresses } from './open-addresses.ts';
import { type ProcessLife, watchProcess } from './process.ts';

/** Milliseconds for commands and calls in progress to finish after a stop signal. */
const GRACE_MS = 3000;
/**
 * Milliseconds after the start of the process until which the listeners wait for the previous sandboxes; the rest restart in the
 * background. With many records, reading them takes a part of it: then few sandboxes are waited for, or none.
 */
const RESUME_BY_MS = 3000;

/** Below a second, in which a task runs at most once: idle sandboxes are ended at each check. */
const IDLE_CHECK_MS = 500;

type Serve = Extract<Invocation, { action: 'serve' }>;

interface Build {
  version: string;
  /** What worker threads run. */
  entry: ThreadEntry;
}

/**
 * Runs the server until a stop signal, then exits the process. A failed start writes one line to stderr and cleans up.
 */
export async function serve(invocation: Serve, build: Build): Promise<void> {
  process.stdout.on('error', () => undefined); // The reader of the log may exit before the server.
  const log = createLog(invocation.config.logging, process.stdout);
  const cleanups = new CleanupStack((step, err) => log.error('shutdown step failed', { step, err }));
  const life = watchProcess(log, () => cleanups.unwind());
  for (const warning of invocation.warnings) log.warn(warning);

  const starting = start(invocation, build, { log, cleanups, life });
  // A stop signal during the start first waits for the current step, so that the step's resources are released, too.
  cleanups.add('start', () => starting.catch(() => undefined));
  await starting.catch((error) => (life.ending ? undefined : life.fail(oneLine(error))));
}

async function start(
  { config, source, dockerEnvironment, adminKey }: Serve,
  { entry, version }: Build,
  { log, cleanups, life }: { log: Log; cleanups: CleanupStack; life: ProcessLife },
): Promise<void> {
  const tls = await openTls(config, log);
  cleanups.add('tls', () => tls?.close());
  const warning = warningOfOpenAddresses(config);
  if (warning) log.warn(warning.message, { addresses: warning.addresses });
  collectAlone();
  const server = await compose(config, { entry, dockerEnvironment, niceness: raisePriority(), adminKey, log });
  cleanups.add('server', () => server.close());
  life.lastResort = server.abandon;
  if (life.ending) return;
  await resumeUntil(RESUME_BY_MS, server);
  if (life.ending) return;
  const listeners = await listen(config, server, tls, log);
  cleanups.add('listeners', listeners.close);
  startTasks(config, server, cleanups, log);
  if (life.ending) return;
  const { grpc_addr, http_addr } = listeners;
  log.info('ready', {
    grpc_addr,
    http_addr,
    ...(tls && { tls: true }),
    runtime: config.runtime.type,
    config: source,
    version,
  });
}

function startTasks(
  { sandbox: { cleanupInterval } }: Serve['config'],
  { services: { sandboxes, keys, retries } }: Composition,
  cleanups: CleanupStack,
  log: Log,
): void {
  const run = async () => {
    await sandboxes.expire();
    await keys.expire();
    await retries.expire();
  };
  const cleanup = startCron({ name: 'cleanup', interval: cleanupInterval, run, log });
  cleanups.add('cleanup', cleanup.stop);
  const endIdle = async () => {
    // Not awaited: an automatic commit may take long, and must not delay the end of other sandboxes.
    void sandboxes.endIdle();
  };
  const idle = startCron({ name: 'idle', interval: IDLE_CHECK_MS, run: endIdle, log });
  cleanups.add('idle', idle.stop);
}

/** Rejects for files that cannot be used: a server that is configured for TLS must not listen in plain text. */
async function openTls({ server: { tls: paths } }: Serve['config'], log: Log): Promise<ServerTls | undefined> {
  return paths.certificate === '' ? undefined : ServerTls.open({ paths, log });
}

/** `ms`: since the start of the process, as `performance.now()` is. */
async function resumeUntil(ms: number, server: Composition): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms - performance.now()));
  });
  await Promise.race([server.resume(), enough]);
  clearTimeout(timer);
}

async function listen(
  config: Serve['config'],
  { services, maxConnections: most }: Composition,
  tls: ServerTls | undefined,
  log: Log,
) {
  const { grpcAddr, httpAddr, allowedHosts } = config.server;
  const shared = { services, tls, log };
  const rest = { address: httpAddr, allowedHosts, previewDomain: previewDomainOf(config), maxConnections: most.rest };
  const http = await startHttp({ ...shared, ...rest }).catch((error) => refused('http_addr', httpAddr, error));
  const grpc = await startGrpc({ ...shared, address: grpcAddr, maxConnections: most.grpc }).catch(async (error) => {
    await http.close(0);
    return refused('grpc_addr', grpcAddr, error);
  });
  return {
    grpc_addr: addressText({ ...grpcAddr, port: grpc.port }),
    http_addr: addressText({ ...httpAddr, port: http.port }),
    close: () => Promise.all([http.close(GRACE_MS), grpc.close(GRACE_MS)]),
  };
}

function refused(key: string, address: { host: string; port: number }, error: unknown): never {
  throw new Error(`server.${key}: ${addressText(address)} cannot be listened on: ${oneLine(error)}`, { cause: error });
}

function oneLine(error: unknown): string {
  const code = errorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const told = code && !(error instanceof ServiceError) && !message.includes(code) ? `${code}: ${message}` : message;
  return told.replace(/\s*\n\s*/g, ' ');
}
