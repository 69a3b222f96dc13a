import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const MOST_BYTES = 256 * 1024 * 1024;

/** Both sides, with a local server of their own. */
export class Sides {
  #home;
  #paddock;

  constructor(home) {
    this.#home = home;
    // Users of sandboxes reach the mount below.
    chmodSync(home, 0o711);
    mkdirSync(join(home, 'user'));
    const variables = { HOME: join(home, 'user'), PADDOCK_LOCAL_STATE: join(home, 'state') };
    const { PADDOCK_URL, PADDOCK_KEY, ...own } = process.env;
    this.#paddock = { ...own, ...variables };
  }

  #run(...args) {
    const options = { env: this.#paddock, maxBuffer: MOST_BYTES, encoding: /** @type {const} */ ('utf8') };
    return spawnSync(process.execPath, [join(ROOT, 'dist/paddock.mjs'), ...args], { ...options, cwd: this.#home });
  }

  inside(directory, program, env = {}) {
    const variables = Object.entries(env).map(([name, value]) => `export ${name}="${value}"\n`);
    return this.#run('run', '--from', directory, '--apply', 'none', '--', 'sh', '-c', variables.join('') + program);
  }

  /** With the variables of a sandbox, and nothing else of the caller's that could change results. */
  native(directory, program, env = {}) {
    const shown = this.#run('run', '--', 'sh', '-c', 'env');
    const lines = shown.stdout.split('\n').filter((line) => /^[A-Z_]+=/.test(line));
    const given = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const home = join(this.#home, 'native-home');
    mkdirSync(home, { recursive: true });
    const variables = Object.entries(env).map(([name, value]) => `export ${name}="${value}"\n`);
    return spawnSync('sh', ['-c', variables.join('') + program], {
      cwd: directory,
      env: { ...given, PATH: process.env.PATH, HOME: home, TMPDIR: undefined, PWD: directory },
      maxBuffer: MOST_BYTES,
      encoding: 'utf8',
    });
  }

  close() {
    this.#run('server', 'stop');
  }
}
