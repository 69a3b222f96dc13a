import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Server, State } from './contract/server.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** Returns the commands of the tour as one script, because they share variables. */
function walk(): string {
  const text = readFileSync(resolve(ROOT, 'docs/tour.md'), 'utf8');
  return [...text.matchAll(/<!-- walk -->\n```sh\n([\s\S]*?)```/g)].map(([, code]) => code).join('\n');
}

/** Returns the names of the keys that have values. */
function keysOf(section: object): string[] {
  return Object.entries(section).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? keysOf(value) : [name],
  );
}

describe('the table of docs/configuration.md', () => {
  it('names every key', () => {
    const page = readFileSync(resolve(ROOT, 'docs/configuration.md'), 'utf8');
    const missing = keysOf(parse(readFileSync(resolve(ROOT, 'configs/server.yaml'), 'utf8'))).filter(
      (key) => !page.includes(`\`${key}\``) && !page.includes(`.${key}\``),
    );
    expect(missing).toEqual([]);
  });
});

describe('docs/tour.md', () => {
  let state: State;
  let server: Server;

  beforeAll(async () => {
    state = await State.create();
    server = await Server.start(state);
  });

  afterAll(async () => {
    await server?.stop();
    await state?.remove();
  });

  it('has the described results over REST and gRPC', async () => {
    const tricky = `run 'echo '"'"'$5 "quoted" \\x'"'"'; printf "%s\\n" -n'\n`;
    const script = walk()
      .replace("run 'ls -A . src", `${tricky}run 'ls -A . src`)
      .replace('http://127.0.0.1:8080', `http://${server.httpAddress}`)
      .replace('127.0.0.1:9000', server.grpcAddress);
    const { stdout, stderr } = await promisify(execFile)('sh', ['-euc', script], { cwd: ROOT });
    expect(stderr).toBe('');
    const inOrder = [
      '{"status":"ok"}',
      '{"path":"src/main.py"',
      '\nprint("hello")\n',
      '$5 \\"quoted\\" \\\\x\\n-n\\n',
      'src:\\nmain.py\\nMIT License',
      'cannot create LICENSE: Permission denied',
      'cat: src/main.py: Permission denied',
      'cat: .env: No such file or directory',
      '"code":5',
      '"name":"notes"',
      "removed 'notes.txt'",
      'LICENSE\\nnotes.txt\\nsrc',
      '{"data":"MQo=","stream":"STDOUT"',
      '"exit_code":0',
      'SANDBOX_STOPPED',
      'SANDBOX_RUNNING',
      '{"stdout":"mine\\n"',
      '\n{}\n{}\n',
      "stdout: 'hello\\n'",
      'cannot create main.py: Permission denied',
    ];
    let at = 0;
    for (const each of inOrder) {
      const found = stdout.indexOf(each, at);
      expect(found, `${each} in ${stdout.slice(at)}`).toBeGreaterThanOrEqual(at);
      at = found + 1;
    }
  });
});
