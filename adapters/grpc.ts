import {
  logVerbosity,
  Server,
  type ServiceDefinition,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { type Operation, operations } from '../handlers/index.ts';
import { rpcs } from '../lib/contract/schema.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { withBounds } from './grpc/bounds.ts';
import { type Mount, mountCall } from './grpc/calls.ts';
import { entrance } from './grpc/entrance.ts';
import { Health } from './grpc/health.ts';
import { passingEncoded } from './grpc/large-message.ts';
import { listen } from './grpc/listen.ts';
import { protos, shapeOfMessage } from './grpc/protos.ts';
import { reflection } from './grpc/reflection.ts';
import { HeldRefusals } from './held-refusals.ts';
import { ABORT_GRACE_MS, type CallAbort, type Listener, type ListenerOptions, MAX_REQUEST_BYTES } from './listener.ts';

const OPTIONS = {
  'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
  'grpc.max_send_message_length': -1,
  'grpc.max_concurrent_streams': 1000,
  // The sum of the two is the time until a vanished client is detected and its commands are killed.
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.enable_channelz': 0,
};

/**
 * Starts the gRPC listener: all rpcs of the contract, health and reflection. Resolves when it listens. Rejects when the
 * address cannot be bound. The caller must close the returned Listener.
 */
export async function startGrpc({ address, services, maxConnections, tls, log }: ListenerOptions): Promise<Listener> {
  // Errors are thrown here or sent to the caller; grpc-js would print them a second time.
  setLogVerbosity(logVerbosity.NONE);
  const mount: Mount = {
    services,
    log,
    encoding: new SerialQueue(),
    calls: new Set(),
    arriving: new Set(),
    held: new HeldRefusals(),
  };
  const server = new Server({ ...OPTIONS, interceptors: [entrance(mount, (path) => OPERATIONS.get(path))] });
  const serving = new Set(Object.values(rpcs).map(({ service }) => `service.v1.${service}`));
  for (const service of serving) {
    server.addService(passingEncoded(bounded(service)), implementationOf(service, mount));
  }

  const health = new Health(serving);
  server.addService(bounded('grpc.health.v1.Health'), health.implementation);
  for (const version of ['v1', 'v1alpha']) {
    server.addService(bounded(`grpc.reflection.${version}.ServerReflection`), { ...reflection() });
  }
  const pace = setInterval(() => {
    for (const each of mount.arriving) each.checkPace();
  }, PACE_MS);
  pace.unref();
  const { port, stop } = await listen(server, {
    address,
    tls,
    log,
    ...(maxConnections !== undefined && { maxConnections }),
  });
  return {
    port,
    close: (graceMs) => {
      stop();
      clearInterval(pace);
      return close(server, health, mount.calls, graceMs);
    },
  };
}

/** Milliseconds between two checks of the requests that are being received. */
const PACE_MS = 5000;

/** By the path of the rpc. Health has a service of its own. */
const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  Object.entries(rpcs).map(([name, { service }]) => [`/service.v1.${service}/${name}`, operationOf(name)]),
);

function operationOf(rpc: string): Operation {
  const operation = operations.find((each) => each.operation === rpc);
  if (operation === undefined) throw new Error(`no operation handles the rpc ${rpc}`);
  return operation;
}

function bounded(service: string): ServiceDefinition {
  const scope = service.slice(0, service.lastIndexOf('.'));
  return withBounds(definition(service), (message) => shapeOfMessage(`${scope}.${message}`));
}

function definition(service: string): ServiceDefinition {
  return protos[service] as ServiceDefinition;
}

function implementationOf(service: string, mount: Mount): UntypedServiceImplementation {
  const calls: UntypedServiceImplementation = {};
  for (const [name, rpc] of Object.entries(rpcs)) {
    if (`service.v1.${rpc.service}` !== service) continue;
    calls[name] = mountCall(operationOf(name), definition(service)[name]!, mount);
  }
  return calls;
}

async function close(server: Server, health: Health, calls: ReadonlySet<CallAbort>, graceMs: number): Promise<void> {
  health.close();
  await new Promise<void>((resolve) => {
    const timers = [
      setTimeout(() => {
        for (const call of calls) call.serverCloses();
      }, graceMs),
      setTimeout(() => {
        server.forceShutdown();
        resolve();
      }, graceMs + ABORT_GRACE_MS),
    ];
    server.tryShutdown(() => {
      for (const timer of timers) clearTimeout(timer);
      resolve();
    });
  });
}
