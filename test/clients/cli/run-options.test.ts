import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { servedOnce } from '../typescript/served.ts';
import { cli } from './cli.ts';

const served = servedOnce();

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
const run = (...args: string[]) => cli(['run', '--apply', 'none', ...args], { url: served.url });

it('the command of run is killed after --timeout', async () => {
  const { code, stderr } = await run('--timeout', '1s', '--', 'sleep', '1000');
  expect([code, stderr]).toEqual([124, expect.stringMatching(/the timeout was over/)]);
  expect((await run('--timeout', '5', '--', 'true')).stderr).toMatch(/--timeout is like "500ms"/);
  expect((await run('--timeout', '300ms', '--', 'true')).stderr).toMatch(/--timeout must be whole seconds/);
});

it('limits of a sandbox are options of run and create', async () => {
  const limits = ['--memory', '256m', '--cpus', '1.5', '--priority', 'low'];
  const { stdout: id } = await cli(['create', ...limits], { url: served.url });
  const { info } = await served.paddock().sandboxes.get(id.trim());
  expect(info.resources).toMatchObject({ memoryBytes: 256 * 1024 * 1024, cpuQuota: 150_000, cpuShares: 256 });
  await cli(['rm', id.trim()], { url: served.url });
  expect((await run(...limits, '--', 'true')).code).toBe(0);
  for (const [option, wrong] of [
    ['memory', 'lots'],
    ['cpus', 'two'],
    ['priority', '9'],
  ]) {
    expect((await run(`--${option}`, wrong!, '--', 'true')).stderr).toMatch(
      new RegExp(`--${option} is .*, not "${wrong}"`),
    );
  }
});

it('a published port is reached at a port of this machine while the command runs', async () => {
  const port = await freePort();
  const program = `python3 -c '
import http.server
class Once(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"inside")
http.server.HTTPServer(("127.0.0.1", 8000), Once).handle_request()'`;
  const running = run('--publish', `8000:${port}`, '--', 'sh', '-c', program);
  const get = () =>
    fetch(`http://127.0.0.1:${port}`)
      .then((answer) => answer.text())
      .catch(() => '');
  await expect.poll(get, { timeout: 20_000 }).toBe('inside');
  const { code, stderr } = await running;
  expect([code, stderr]).toEqual([0, expect.stringContaining(`127.0.0.1:${port} is port 8000 of the sandbox`)]);
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
  expect((await run('--publish', '0', '--', 'true')).stderr).toMatch(/a port is a number from 1 to 65535/);
});

it('a published port that is taken ends the run before the command is done', async () => {
  const port = Number(new URL(served.url).port);
  const { code, stderr } = await run('--publish', `8000:${port}`, '--', 'sleep', '1000');
  expect([code, stderr]).toEqual([125, expect.stringMatching(/in use: choose another one/)]);
});

it('an opened port has a URL, which ends when it is closed', async () => {
  const paddock = (...args: string[]) => cli(args, { url: served.url });
  const id = (await paddock('create')).stdout.trim();
  await paddock('exec', '-d', id, 'python3', '-m', 'http.server', '8000');
  await paddock('port', 'wait', id, '8000');
  const { stdout } = await paddock('port', 'open', id, '8000', '--link', '--expires-in', '1h');
  expect((await fetch(stdout.trim())).status).toBe(200);
  expect((await paddock('port', 'ls', id)).stdout).toMatch(/PORT +ACCESS +UNTIL +URL\n8000 +link +20\d\d-/);
  expect((await paddock('port', 'close', id, '8000')).stdout).toBe('port 8000 is closed\n');
  expect((await fetch(stdout.trim())).status).not.toBe(200);
  await paddock('rm', id);
});

it('--take is no way to take all that tools run on sight', async () => {
  for (const all of ['./', '/', '/workspace', '']) {
    const { code, stderr } = await run('--take', all, '--', 'true');
    expect([code, stderr]).toEqual([
      125,
      expect.stringMatching(/--take is the path of a file or directory, not of all/),
    ]);
  }
});
