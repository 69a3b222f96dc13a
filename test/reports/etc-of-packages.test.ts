import { beforeAll, expect, it } from 'vitest';
import type { ExecResponse } from '../../lib/contract/messages.ts';
import { serverOfFile } from '../contract/use-server.ts';
import { Api } from '../server/api.ts';

const served = serverOfFile();
let run: (command: string) => Promise<ExecResponse>;

beforeAll(async () => {
  const api = new Api(served.server.httpAddress);
  const id = await api.create(await api.codebase());
  run = async (command) => (await api.post(`/v1/sandboxes/${id}/exec`, { command })).body as ExecResponse;
});

it('no link of the packages in /usr leads to a file of /etc that is not there', async () => {
  const links = "find /usr -xdev -path /usr/local -prune -o -type l -lname '*etc/*' -print";
  const dangling = 'case $(readlink -m "$l") in /etc/*) [ -e "$l" ] || echo "$l" ;; esac';
  const { stdout, exit_code } = await run(`${links} | while read -r l; do ${dangling}; done; ${links} | wc -l`);
  expect(exit_code).toBe(0);
  const lines = stdout.trim().split('\n');
  expect(Number(lines.at(-1))).toBeGreaterThan(10);
  expect(lines.slice(0, -1)).toEqual([]);
});

it('a program finds the configuration of its package', async () => {
  const command = 'import sitecustomize, os; print(os.path.realpath(sitecustomize.__file__))';
  expect((await run(`python3 -c '${command}'`)).stdout).toMatch(/^\/etc\/python3[.\d]*\/sitecustomize\.py\n$/);
});

it('secrets, users and the identity of the machine are not shown', async () => {
  const names = 'shadow gshadow passwd- machine-id sudoers ssh/ssh_host_rsa_key ssl/private/* letsencrypt hostname';
  const { stdout } = await run(`cd /etc; ls -d ${names} 2>/dev/null; cat hostname; cut -d: -f1 passwd`);
  expect(stdout).toBe('hostname\nsandbox\nroot\nsandbox\nnobody\n');
});
