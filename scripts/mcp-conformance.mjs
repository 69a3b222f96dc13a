/**
 * Runs those scenarios of the conformance suite of MCP that apply to this server, against the built server. Exit code 0 if
 * all pass. Needs the npm registry: the suite, and the Node 22 that it needs, are fetched.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { settings } from './demo/machine.mjs';
import { Service } from './demo/service.mjs';

const SUITE = '@modelcontextprotocol/conformance@0.1.16';

/**
 * All others need tools, prompts and resources with names and answers of a server that is made for the suite
 * (tools-call-*, prompts-*, resources-*, elicitation-*), or logging-set-level and completion-complete: this server has tools
 * only, and neither logs to its clients nor completes arguments. The suite has none for the revision of 2026-07-28.
 */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

const ROOT = resolve(import.meta.dirname, '..');
const directory = mkdtempSync(join(tmpdir(), 'paddock-mcp-'));
// The users of sandboxes must be able to traverse it to the mount.
chmodSync(directory, 0o711);
const service = new Service();
try {
  install();
  const { http_addr } = await service.start({
    root: ROOT,
    bundle: join(ROOT, 'dist/server.mjs'),
    directory,
    sections: settings(),
  });
  const { id: codebase_id } = await service.call('POST', '/v1/codebases', { name: 'conformance' });
  const { id } = await service.call('POST', '/v1/sandboxes', { codebase_id });
  for (const path of [`/v1/sandboxes/${id}/mcp`, '/mcp']) {
    for (const scenario of SCENARIOS) run(scenario, `http://${http_addr}${path}`, path.replace(id, '{sandbox_id}'));
  }
} finally {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
}

function install() {
  const npm = ['npm', 'install', '--prefix', directory, '--no-audit', '--no-fund', SUITE];
  const command = ['scripts/on-node.sh', '22', 'sh', 'scripts/from-network.sh', ...npm];
  const { status } = spawnSync('sh', command, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${SUITE} could not be installed`);
}

function run(scenario, url, shown) {
  const suite = join(directory, 'node_modules/.bin/conformance');
  const command = ['scripts/on-node.sh', '22', suite, 'server', '--url', url, '--scenario', scenario];
  // The suite writes files into its directory.
  const { status, stdout, stderr } = spawnSync('sh', command, { cwd: ROOT, encoding: 'utf8', timeout: 120_000 });
  process.stdout.write(`${status === 0 ? 'passed' : 'FAILED'}  ${shown}  ${scenario}\n`);
  if (status === 0) return;
  process.stdout.write(`${stdout}${stderr}\n`);
  process.exitCode = 1;
}
