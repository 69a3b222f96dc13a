import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { servedOnce } from '../clients/typescript/served.ts';

/** A server of a developer on her machine, like that of a model. */
const hers = createServer(({ headers }, response) => response.end(`hers, at ${headers.host}\n`));
const served = servedOnce({ config: { network: { allow_max: ['public', '127.0.0.1/32'] } } });
let port: number;

beforeAll(async () => {
  await once(hers.listen(0, '127.0.0.1'), 'listening');
  ({ port } = hers.address() as AddressInfo);
});
afterAll(() => void hers.close());

/** Standard output of a command in a sandbox with these rules. */
async function outputOf(rules: { cidr?: string; host?: string; ports?: number[] }[], command: string): Promise<string> {
  const sandbox = await served.paddock().sandboxes.create({ network: { mode: 'allow_list', rules } });
  const { stdout } = await sandbox.run(command);
  await sandbox.destroy();
  return stdout;
}

it('a rule for a port of 127.0.0.1 makes the server of this machine reachable at the address that it has here', async () => {
  const rules = [{ cidr: '127.0.0.1/32', ports: [port] }];
  expect(await outputOf(rules, `curl -s -m 20 http://127.0.0.1:${port}/`)).toBe(`hers, at 127.0.0.1:${port}\n`);
});

it('without a rule for the address, its port is not reached there, also if the policy has the port', async () => {
  const rules = [{ host: 'api.example', ports: [port] }];
  // A reset is told as 7 by curl if it comes before the end of connect(2) is read, else as 56.
  const command = `curl -s -m 20 http://127.0.0.1:${port}/; echo $?`;
  expect(await outputOf(rules, command)).toMatch(/^(7|56)\n$/);
  expect(await outputOf([{ cidr: '127.0.0.1/32', ports: [1] }], command)).toBe('7\n');
});

it('a server of the sandbox has each port that no rule names', async () => {
  const command =
    'python3 -m http.server 8123 >/dev/null 2>&1 & until curl -sf http://127.0.0.1:8123/ | grep -o listing; do :; done';
  expect(await outputOf([{ cidr: '127.0.0.1/32', ports: [port] }], command)).toContain('listing');
});
