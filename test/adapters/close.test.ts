import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startGrpc } from '../../adapters/grpc.ts';
import { startHttp } from '../../adapters/http.ts';
import { ServiceError } from '../../lib/errors.ts';
import { silentLog } from '../../lib/log.ts';
import { grpcOver, restOver, until } from './clients.ts';
import { aSandbox, fakeServices } from './fake-services.ts';

/** A call that ends when the test releases it, or when its signal aborts. */
function held() {
  const call = { started: false, go: () => {} };
  const gone = new Promise<void>((resolve) => {
    call.go = resolve;
  });
  const services = fakeServices({
    sandboxes: {
      start: async () => {
        call.started = true;
        await gone;
        return aSandbox;
      },
      exec: async (_request, signal) => {
        call.started = true;
        await once(signal, 'abort');
        throw new ServiceError('CANCELLED', 'the command was cancelled');
      },
    },
  });
  return { call, services };
}

describe('closing', () => {
  it('completes REST calls in progress, accepts no new ones, and does not wait for idle connections', async () => {
    const { call, services } = held();
    const rest = await restOver(services);
    const idle = connect(rest.port, '127.0.0.1');
    await once(idle, 'connect');
    const agent = new Agent({ keepAlive: true });
    const pending = once(
      request(`${rest.url}/v1/sandboxes/sb_1/start`, { agent, method: 'POST' }).end(),
      'response',
    ) as Promise<[import('node:http').IncomingMessage]>;
    await until(() => call.started);
    const closed = rest.close(20_000);
    await expect(fetch(`${rest.url}/health`)).rejects.toThrow();
    call.go();
    const [answer] = await pending;
    expect(answer.statusCode).toBe(200);
    answer.resume();
    await closed;
    agent.destroy();
    idle.destroy();
  });

  it('aborts REST calls that do not finish in time with UNAVAILABLE', async () => {
    const { call, services } = held();
    const rest = await restOver(services);
    const answer = rest.json('POST', '/v1/sandboxes/sb_1/exec', { command: 'x' });
    await until(() => call.started);
    const closed = rest.close(0);
    expect(await answer).toMatchObject({ status: 503, body: { code: 14, message: 'the server is shutting down' } });
    await closed;
  });

  it('aborts gRPC calls that do not finish in time with UNAVAILABLE', async () => {
    const { call, services } = held();
    const rpc = await grpcOver(services);
    const answer = rpc.unary('service.v1.SandboxService/Exec', { command: 'x' });
    answer.catch(() => {});
    await until(() => call.started);
    const closed = rpc.close(0);
    await expect(answer).rejects.toMatchObject({ code: 14, details: 'the server is shutting down' });
    await closed;
  });

  it('closes the connections of calls that ignore the abort', async () => {
    const { call, services } = held();
    const rest = await restOver(services);
    const answer = fetch(`${rest.url}/v1/sandboxes/sb_1/start`, { method: 'POST' });
    answer.catch(() => {});
    await until(() => call.started);
    await rest.close(0);
    await expect(answer).rejects.toThrow();
  });
});

describe('listening', () => {
  it.each([
    ['REST', startHttp],
    ['gRPC', startGrpc],
  ])('over %s rejects for an address that is in use', async (_name, start) => {
    const options = { services: fakeServices(), log: silentLog };
    const first = await start({ ...options, address: { host: '127.0.0.1', port: 0 } });
    await expect(start({ ...options, address: { host: '127.0.0.1', port: first.port } })).rejects.toThrow(
      /EADDRINUSE|No address/,
    );
    await first.close(0);
  });

  it.each([
    ['REST', startHttp],
    ['gRPC', startGrpc],
  ])('over %s binds an empty host to all interfaces', async (_name, start) => {
    const server = await start({ services: fakeServices(), log: silentLog, address: { host: '', port: 0 } });
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    await server.close(0);
  });
});
