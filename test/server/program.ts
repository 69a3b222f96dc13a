import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const BUNDLE = resolve(import.meta.dirname, '../../dist/server.mjs');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A folder to start the built server in, with nothing beside it that it could read by accident. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'paddock-server-'));

  write(name: string, content: string): string {
    writeFileSync(join(this.folder, name), content);
    return name;
  }

  /** A configuration with its state in this folder and any free ports. */
  config(sections = '', name = 'server.yaml', tls = '{}'): string {
    const storage = ['codebase_path', 'mount_path', 'db_path'].map(
      (key) => `${key}: ${join(this.folder, 'state', key)}`,
    );
    const server = 'server: {grpc_addr: "127.0.0.1:0", http_addr: "127.0.0.1:0", tls: ';
    return this.write(name, `${server}${tls}}\nstorage: {${storage.join(', ')}}\n${sections}\n`);
  }

  /** Runs the server to its end, which must come by itself. */
  async run(argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    const child = spawn(process.execPath, [BUNDLE, ...argv], {
      cwd: this.folder,
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    const outputs = [text(child.stdout), text(child.stderr)];
    const [code] = (await once(child, 'close')) as [number | null];
    const [stdout = '', stderr = ''] = await Promise.all(outputs);
    return { code, stdout, stderr };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
