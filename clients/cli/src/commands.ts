import type { Command } from './command.ts';

type Load = () => Promise<{ default: Command }>;

interface Entries {
  readonly name: string;
  /** Those in the short help. */
  readonly usual: readonly string[];
  /** In the order of the help. Each is loaded when it is used. */
  readonly commands: Readonly<Record<string, Load>>;
}

const GROUPS: readonly Entries[] = [
  {
    name: 'Run',
    usual: ['run', 'exec', 'mcp'],
    commands: {
      run: () => import('./commands/run.ts'),
      exec: () => import('./commands/exec.ts'),
      sh: () => import('./commands/sh.ts'),
      ps: () => import('./commands/ps.ts'),
      logs: () => import('./commands/logs.ts'),
      attach: () => import('./commands/attach.ts'),
      kill: () => import('./commands/kill.ts'),
      top: () => import('./commands/top.ts'),
      mcp: () => import('./commands/mcp.ts'),
    },
  },
  {
    name: 'Review',
    usual: ['diff', 'pull', 'commit'],
    commands: {
      diff: () => import('./commands/diff.ts'),
      pull: () => import('./commands/pull.ts'),
      commit: () => import('./commands/commit.ts'),
      discard: () => import('./commands/discard.ts'),
      checkpoint: () => import('./commands/checkpoint.ts'),
      rollback: () => import('./commands/rollback.ts'),
      fork: () => import('./commands/fork.ts'),
    },
  },
  {
    name: 'Sandboxes',
    usual: ['create', 'ls', 'rm', 'cp'],
    commands: {
      create: () => import('./commands/create.ts'),
      ls: () => import('./commands/ls.ts'),
      start: () => import('./commands/start.ts'),
      stop: () => import('./commands/stop.ts'),
      rm: () => import('./commands/rm.ts'),
      cp: () => import('./commands/cp.ts'),
      push: () => import('./commands/push.ts'),
      import: () => import('./commands/import.ts'),
      export: () => import('./commands/export.ts'),
      rules: () => import('./commands/rules.ts'),
      'rules set': () => import('./commands/rules-set.ts'),
      'rules add': () => import('./commands/rules-add.ts'),
      'rules refused': () => import('./commands/rules-refused.ts'),
      'rules explain': () => import('./commands/rules-explain.ts'),
      'rules preview': () => import('./commands/rules-preview.ts'),
    },
  },
  {
    name: 'Network and secrets',
    usual: ['network allow', 'forward', 'secret set'],
    commands: {
      network: () => import('./commands/network.ts'),
      'network set': () => import('./commands/network-set.ts'),
      'network allow': () => import('./commands/network-allow.ts'),
      'network explain': () => import('./commands/network-explain.ts'),
      'network connections': () => import('./commands/network-connections.ts'),
      'network watch': () => import('./commands/network-watch.ts'),
      'port open': () => import('./commands/port-open.ts'),
      'port ls': () => import('./commands/port-ls.ts'),
      'port close': () => import('./commands/port-close.ts'),
      forward: () => import('./commands/forward.ts'),
      'wait-port': () => import('./commands/wait-port.ts'),
      'secret set': () => import('./commands/secret-set.ts'),
      'secret list': () => import('./commands/secret-list.ts'),
      'secret get': () => import('./commands/secret-get.ts'),
      'secret rm': () => import('./commands/secret-rm.ts'),
    },
  },
  {
    name: 'Server',
    usual: ['doctor', 'config'],
    commands: {
      doctor: () => import('./commands/doctor.ts'),
      config: () => import('./commands/config.ts'),
      'server start': () => import('./commands/server-start.ts'),
      'server stop': () => import('./commands/server-stop.ts'),
      'server env': () => import('./commands/server-env.ts'),
      'server status': () => import('./commands/server-status.ts'),
      'key create': () => import('./commands/key-create.ts'),
      'key ls': () => import('./commands/key-ls.ts'),
      'key revoke': () => import('./commands/key-revoke.ts'),
      'key whoami': () => import('./commands/key-whoami.ts'),
      'image ls': () => import('./commands/image-ls.ts'),
      'image pull': () => import('./commands/image-pull.ts'),
      'image import': () => import('./commands/image-import.ts'),
      'image rm': () => import('./commands/image-rm.ts'),
      'owner limits': () => import('./commands/owner-limits.ts'),
      completion: () => import('./commands/completion.ts'),
    },
  },
];

const COMMANDS: ReadonlyMap<string, Load> = new Map(GROUPS.flatMap(({ commands }) => Object.entries(commands)));

/** Other names. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['list', 'ls'],
  ['destroy', 'rm'],
]);

export const NAMES: readonly string[] = [...COMMANDS.keys()];

const load = async (names: readonly string[]): Promise<Command[]> =>
  Promise.all(names.map(async (name) => (await COMMANDS.get(name)!()).default));

export const loadAll = (): Promise<Command[]> => load(NAMES);

/** The commands below a first word: those of "key". */
export const loadBelow = (word: string): Promise<Command[]> =>
  load(NAMES.filter((name) => name.startsWith(`${word} `)));

/** The commands of each group of the help, all or the usual ones. */
export async function loadGroups(which: 'usual' | 'all'): Promise<{ name: string; commands: Command[] }[]> {
  return Promise.all(
    GROUPS.map(async ({ name, usual, commands }) => ({
      name,
      commands: await load(which === 'usual' ? usual : Object.keys(commands)),
    })),
  );
}

/** The command that the first word or the first two words name, and the arguments after them. */
export async function find(
  args: readonly string[],
): Promise<{ command: Command; args: readonly string[] } | undefined> {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ');
    const found = COMMANDS.get(ALIASES.get(name) ?? name);
    if (args.length >= words && found) return { command: (await found()).default, args: args.slice(words) };
  }
  return undefined;
}
