import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from '@grpc/grpc-js';

interface HealthRequest {
  service: string;
}
interface HealthResponse {
  status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
}
type Watcher = ServerWritableStream<HealthRequest, HealthResponse>;

/** grpc.health.v1.Health: every service, and the server as a whole (""), is SERVING until `close`. */
export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #watchers = new Set<Watcher>();

  constructor(services: Iterable<string>) {
    this.#services = new Set(['', ...services]);
  }

  readonly implementation = {
    Check: (call: ServerUnaryCall<HealthRequest, HealthResponse>, callback: sendUnaryData<HealthResponse>) => {
      if (this.#services.has(call.request.service)) callback(null, { status: 'SERVING' });
      else callback({ code: status.NOT_FOUND, details: 'there is no such service' });
    },
    Watch: (call: Watcher) => {
      this.#watchers.add(call);
      call.once('cancelled', () => this.#watchers.delete(call));
      call.write({ status: this.#services.has(call.request.service) ? 'SERVING' : 'SERVICE_UNKNOWN' });
    },
  };

  /**
   * Sends NOT_SERVING to all watchers and ends their streams, which would otherwise prevent the server from closing.
   */
  close(): void {
    for (const call of this.#watchers) {
      if (this.#services.has(call.request.service)) call.write({ status: 'NOT_SERVING' });
      call.end();
    }
    this.#watchers.clear();
  }
}
