/** The built server as a process of its own, and calls over both of its protocols. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** Reading 100,000 records takes a few seconds, and many times as long on a busy machine. */
const READY_MS = 60_000;

export class Service {
  #child;
  #http;
  #grpc;
  #grpcClient;

  /**
   * Starts `bundle` in an empty folder with its state in `directory`: on its embedded defaults, or, where there are
   * `sections` of configuration, on a file with these.
   */
  async start({ root, bundle, directory, sections = {}, env = {} }) {
    const state = join(directory, 'state');
    const cwd = join(directory, 'empty');
    mkdirSync(cwd, { recursive: true });
    const flags = ['-http-addr', '127.0.0.1:0', '-grpc-addr', '127.0.0.1:0'];
    if (Object.keys(sections).length > 0) flags.push('-config', configFile(directory, state, sections));
    this.#child = spawn(process.execPath, [bundle, ...flags], {
      cwd,
      env: { PATH: process.env.PATH, STATE_DIRECTORY: state, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = [];
    createInterface({ input: this.#child.stderr }).on('line', (line) => said.push(line));
    const { http_addr, grpc_addr } = await ready(this.#child, said).catch(async (error) => {
      if (this.#child.signalCode === null) await this.stop();
      throw error;
    });
    const [host, port] = http_addr.split(/:(?=\d+$)/);
    this.#http = { host: host || '127.0.0.1', port: Number(port) };
    const definition = loadSync('service/v1/sandbox.proto', {
      keepCase: true,
      enums: String,
      longs: Number,
      includeDirs: [join(root, 'proto')],
    });
    const packages = /** @type {any} */ (loadPackageDefinition(definition));
    const { SandboxService } = packages.service.v1;
    this.#grpcClient = (options) => new SandboxService(grpc_addr, credentials.createInsecure(), options);
    this.#grpc = this.#grpcClient({});
    return { http_addr, grpc_addr, pid: this.#child.pid };
  }

  /** JSON in, JSON out. An error's body is thrown. */
  async call(method, path, body, agent) {
    const answer = await this.send(method, path, body === undefined ? undefined : JSON.stringify(body), agent);
    const parsed = JSON.parse(answer.body);
    if (answer.status !== 200) throw Object.assign(new Error(parsed.message), parsed);
    return parsed;
  }

  send(method, path, body, agent = false) {
    return new Promise((done, failed) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const outgoing = request({ ...this.#http, method, path, headers, agent }, async (answer) => {
        try {
          done({ status: answer.statusCode, body: Buffer.concat(await answer.toArray()).toString() });
        } catch (error) {
          failed(error);
        }
      });
      outgoing.once('error', failed).end(body);
    });
  }

  /** `archive`: a stream of a tar. */
  async importFiles(codebaseId, archive) {
    const path = `/v1/codebases/${codebaseId}/files?format=tar&mode=replace`;
    const outgoing = request({ ...this.#http, method: 'PUT', path });
    const [[answer]] = await Promise.all([once(outgoing, 'response'), pipeline(archive, outgoing)]);
    const body = Buffer.concat(await answer.toArray()).toString();
    if (answer.statusCode !== 200) throw new Error(`import: ${body}`);
  }

  execOverGrpc(message) {
    return new Promise((done, failed) => {
      this.#grpc.Exec(message, (error, answer) => (error ? failed(error) : done(answer)));
    });
  }

  /** Chunks as they arrive, over a connection of its own with the given channel options. */
  streamOverGrpc(message, options) {
    const client = this.#grpcClient(options);
    const chunks = client.ExecStream(message);
    chunks.once('close', () => client.close());
    return chunks;
  }

  /** As a crash ends it. */
  async kill() {
    this.#grpc?.close();
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  /** Returns the exit code. */
  async stop() {
    this.#grpc?.close();
    if (!this.#child || this.#child.exitCode !== null) return this.#child?.exitCode;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    return (await exited)[0];
  }
}

function configFile(directory, state, sections) {
  const path = join(directory, 'server.yaml');
  const storage = {
    codebase_path: join(state, 'codebases'),
    mount_path: join(state, 'mounts'),
    db_path: join(state, 'metadata.json'),
  };
  // JSON is YAML.
  writeFileSync(path, JSON.stringify({ ...sections, storage: { ...storage, ...sections.storage } }));
  return path;
}

function ready(child, said) {
  return new Promise((done, failed) => {
    const timer = setTimeout(() => failed(new Error(`the server is not ready after ${READY_MS / 1000} s`)), READY_MS);
    child.once('exit', (code) => failed(new Error(`the server ended with ${code}: ${said.join('\n')}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = line.startsWith('{') ? JSON.parse(line) : {};
      if (entry.msg !== 'ready') return;
      clearTimeout(timer);
      done(entry);
    });
  });
}

/** Mounts whose path lies below `directory`. */
export function mountsBelow(directory) {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.split(' ')[1]?.startsWith(directory));
}
