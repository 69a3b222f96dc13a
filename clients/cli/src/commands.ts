import type { Command } from './command.ts';

type Load = () => Promise<{ default: Command }>;

/** The commands, in the order of the help. Each is loaded when it is used. */
const COMMANDS: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['run', () => import('./commands/run.ts')],
  ['create', () => import('./commands/create.ts')],
  ['ls', () => import('./commands/ls.ts')],
  ['start', () => import('./commands/start.ts')],
  ['stop', () => import('./commands/stop.ts')],
  ['rm', () => import('./commands/rm.ts')],
  ['push', () => import('./commands/push.ts')],
  ['pull', () => import('./commands/pull.ts')],
  ['import', () => import('./commands/import.ts')],
  ['export', () => import('./commands/export.ts')],
  ['diff', () => import('./commands/diff.ts')],
  ['commit', () => import('./commands/commit.ts')],
  ['discard', () => import('./commands/discard.ts')],
  ['checkpoint', () => import('./commands/checkpoint.ts')],
  ['rollback', () => import('./commands/rollback.ts')],
  ['fork', () => import('./commands/fork.ts')],
  ['rules', () => import('./commands/rules.ts')],
  ['rules set', () => import('./commands/rules-set.ts')],
  ['rules add', () => import('./commands/rules-add.ts')],
  ['rules refused', () => import('./commands/rules-refused.ts')],
  ['rules explain', () => import('./commands/rules-explain.ts')],
  ['rules preview', () => import('./commands/rules-preview.ts')],
  ['network', () => import('./commands/network.ts')],
  ['network set', () => import('./commands/network-set.ts')],
  ['network allow', () => import('./commands/network-allow.ts')],
  ['network explain', () => import('./commands/network-explain.ts')],
  ['network connections', () => import('./commands/network-connections.ts')],
  ['network watch', () => import('./commands/network-watch.ts')],
  ['exec', () => import('./commands/exec.ts')],
  ['sh', () => import('./commands/sh.ts')],
  ['ps', () => import('./commands/ps.ts')],
  ['logs', () => import('./commands/logs.ts')],
  ['attach', () => import('./commands/attach.ts')],
  ['kill', () => import('./commands/kill.ts')],
  ['cp', () => import('./commands/cp.ts')],
  ['wait-port', () => import('./commands/wait-port.ts')],
  ['forward', () => import('./commands/forward.ts')],
  ['mcp', () => import('./commands/mcp.ts')],
  ['top', () => import('./commands/top.ts')],
  ['secret set', () => import('./commands/secret-set.ts')],
  ['secret list', () => import('./commands/secret-list.ts')],
  ['secret get', () => import('./commands/secret-get.ts')],
  ['secret rm', () => import('./commands/secret-rm.ts')],
  ['key create', () => import('./commands/key-create.ts')],
  ['key ls', () => import('./commands/key-ls.ts')],
  ['key revoke', () => import('./commands/key-revoke.ts')],
  ['key whoami', () => import('./commands/key-whoami.ts')],
  ['config', () => import('./commands/config.ts')],
  ['doctor', () => import('./commands/doctor.ts')],
  ['completion', () => import('./commands/completion.ts')],
  ['server start', () => import('./commands/server-start.ts')],
  ['server stop', () => import('./commands/server-stop.ts')],
  ['server env', () => import('./commands/server-env.ts')],
  ['server status', () => import('./commands/server-status.ts')],
]);

/** Other names. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['list', 'ls'],
  ['destroy', 'rm'],
]);

export async function loadAll(): Promise<Command[]> {
  return Promise.all([...COMMANDS.values()].map(async (load) => (await load()).default));
}

/** The command that the first word or the first two words name, and the arguments after them. */
export async function find(
  args: readonly string[],
): Promise<{ command: Command; args: readonly string[] } | undefined> {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ');
    const load = COMMANDS.get(ALIASES.get(name) ?? name);
    if (args.length >= words && load) return { command: (await load()).default, args: args.slice(words) };
  }
  return undefined;
}
