/** Runs the measured server in a process of its own; this process is its client. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Service } from '../../scripts/demo/service.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
/** Outside the default range, so that it does not collide with another server on this machine. */
const UIDS = { start: 2_900_000, size: 2048 };
/** USER_HZ: clock ticks per second in /proc, the same on every Linux that Node supports. */
const TICKS = 100;
const WRITE_ALL = [{ pattern: '**', permission: 'PERMISSION_WRITE' }];

export class Server {
  #service = new Service();
  #agent = new Agent({ keepAlive: true });
  #address;
  #codebase;
  pid;
  /** Host and port. */
  grpcAddress;

  /** Starts a server. `env`: additional environment variables. `runtime`, `storage`: additional settings. */
  static async start(directory, env = {}, runtime = {}, storage = {}) {
    const server = new Server();
    const started = await server.#service.start({
      root: ROOT,
      bundle: join(ROOT, 'dist/server.mjs'),
      directory,
      env,
      sections: { runtime: { uid_range: UIDS, ...runtime }, sandbox: { max_per_user: 0 }, storage },
    });
    server.pid = started.pid;
    server.grpcAddress = started.grpc_addr;
    const [host, port] = started.http_addr.split(/:(?=\d+$)/);
    server.#address = { host, port: Number(port) };
    server.#codebase = (await server.call('POST', '/v1/codebases', { name: 'bench', owner_id: 'bench' })).id;
    return server;
  }

  get address() {
    return this.#address;
  }

  get agent() {
    return this.#agent;
  }

  call(method, path, body) {
    return this.#service.call(method, path, body, this.#agent);
  }

  async create(more = {}) {
    const request = { codebase_id: this.#codebase, permissions: WRITE_ALL, ...more };
    return (await this.call('POST', '/v1/sandboxes', request)).id;
  }

  destroy(id) {
    return this.call('DELETE', `/v1/sandboxes/${id}`);
  }

  /** Uploads a file to the codebase of the sandboxes. */
  upload(path, content) {
    return this.#put(`/v1/codebases/${this.#codebase}/files/${path}`, content);
  }

  /** Returns the image of an archive. */
  async importImage(name, archive) {
    return JSON.parse(await this.#put(`/v1/images/${name}`, archive));
  }

  async #put(path, content) {
    const { host, port } = this.#address;
    const answering = request({ host, port, method: 'PUT', path, agent: this.#agent }).end(content);
    const [answer] = await once(answering, 'response');
    const body = await text(answer);
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${body}`);
    return body;
  }

  async exec(id, command = 'true') {
    const { exit_code } = await this.call('POST', `/v1/sandboxes/${id}/exec`, { command });
    if (exit_code !== 0) throw new Error(`${command}: exit code ${exit_code}`);
  }

  async execOverGrpc(sandbox_id, command = 'true') {
    const { exit_code } = await this.#service.execOverGrpc({ sandbox_id, command });
    if (exit_code !== 0) throw new Error(`${command}: exit code ${exit_code}`);
  }

  streamOverGrpc(request, options) {
    return this.#service.streamOverGrpc(request, options);
  }

  /** Returns the server's resident memory in bytes. */
  rss() {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.pid}/status`, 'latin1'))?.[1]) * 1024;
  }

  /** Returns the server's CPU time so far in seconds, user and system. */
  cpu() {
    const fields = readFileSync(`/proc/${this.pid}/stat`, 'latin1').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  }

  /** Whether a host uid belongs to a sandbox of this server. */
  static isSandboxUser(uid) {
    return uid >= UIDS.start && uid < UIDS.start + UIDS.size;
  }

  /** As a crash ends it; its state can be started again. */
  async kill() {
    this.#agent.destroy();
    await this.#service.kill();
  }

  async stop() {
    this.#agent.destroy();
    await this.#service.stop();
  }
}
