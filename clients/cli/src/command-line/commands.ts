import type { Command, Named } from './command.ts';

type Load = () => Promise<Command>;

/** The commands of one file, named by the last word of each: those of a noun, or verbs. Each file is loaded when it is used. */
function of<M extends object>(noun: string, load: () => Promise<M>, words: readonly (keyof M & string)[]) {
  return words.map((word): [string, Load] => [`${noun} ${word}`.trim(), async () => (await load())[word] as Command]);
}

interface Group {
  readonly name: string;
  /** Those in the short help. */
  readonly usual: readonly string[];
  /** In the order of the help. */
  readonly commands: ReadonlyMap<string, Load>;
}

const group = (name: string, usual: readonly string[], ...commands: readonly (readonly [string, Load])[][]): Group => ({
  name,
  usual,
  commands: new Map(commands.flat()),
});

/** What acts on a sandbox is a verb. Everything else is a noun with a verb, and no noun is a command itself. */
const GROUPS: readonly Group[] = [
  group(
    'Run',
    ['run', 'exec', 'mcp'],
    of('', () => import('../commands/run.ts'), ['run']),
    of('', () => import('../commands/exec.ts'), ['exec', 'sh']),
    of('', () => import('../commands/processes.ts'), ['ps', 'attach', 'kill']),
    of('', () => import('../commands/logs.ts'), ['logs']),
    of('', () => import('../commands/top.ts'), ['top']),
    of('', () => import('../commands/mcp.ts'), ['mcp']),
  ),
  group(
    'Review',
    ['diff', 'pull', 'commit'],
    of('', () => import('../commands/changes.ts'), ['diff', 'discard']),
    of('', () => import('../commands/pull.ts'), ['pull']),
    of('', () => import('../commands/commit.ts'), ['commit']),
    of('', () => import('../commands/checkpoints.ts'), ['rollback']),
    of('checkpoint', () => import('../commands/checkpoints.ts'), ['create', 'ls', 'rm']),
  ),
  group(
    'Sandboxes',
    ['create', 'ls', 'rm', 'cp', 'rules explain'],
    of('', () => import('../commands/create.ts'), ['create']),
    of('', () => import('../commands/sandboxes.ts'), ['ls', 'stop', 'resume', 'rm', 'fork']),
    of('', () => import('../commands/cp.ts'), ['cp']),
    of('rules', () => import('../commands/rules.ts'), ['get', 'explain', 'preview', 'refused']),
    of('rules', () => import('../commands/rules-set.ts'), ['set', 'add']),
  ),
  group(
    'Network and secrets',
    ['network allow', 'port forward', 'secret set'],
    of('network', () => import('../commands/network.ts'), ['get', 'set', 'allow', 'explain']),
    of('network', () => import('../commands/connections.ts'), ['connections', 'watch']),
    of('port', () => import('../commands/ports.ts'), ['forward', 'open', 'ls', 'close', 'wait']),
    of('secret', () => import('../commands/secret-set.ts'), ['set']),
    of('secret', () => import('../commands/secrets.ts'), ['ls', 'get', 'rm']),
  ),
  group(
    'Server',
    ['doctor'],
    of('', () => import('../commands/doctor.ts'), ['doctor']),
    of('server', () => import('../commands/server.ts'), ['start', 'stop', 'status', 'env']),
    of('config', () => import('../commands/config.ts'), ['show', 'trust']),
    of('codebase', () => import('../commands/codebases.ts'), ['ls', 'rm']),
    of('image', () => import('../commands/images.ts'), ['ls', 'pull', 'import', 'rm']),
    of('key', () => import('../commands/keys.ts'), ['create', 'ls', 'revoke', 'whoami']),
    of('limits', () => import('../commands/limits.ts'), ['get', 'set']),
    of('', () => import('../commands/completion.ts'), ['completion']),
    of('', () => import('../commands/api.ts'), ['api']),
  ),
];

const COMMANDS: ReadonlyMap<string, Load> = new Map(GROUPS.flatMap(({ commands }) => [...commands]));

export const NAMES: readonly string[] = [...COMMANDS.keys()];

const load = (names: readonly string[]): Promise<Named[]> =>
  Promise.all(names.map(async (name) => ({ ...(await COMMANDS.get(name)!()), name })));

export const loadAll = (): Promise<Named[]> => load(NAMES);

/** The commands of a noun: those of "key". */
export const loadBelow = (noun: string): Promise<Named[]> => load(NAMES.filter((name) => name.startsWith(`${noun} `)));

/** The commands of each group of the help, all or the usual ones. */
export async function loadGroups(which: 'usual' | 'all'): Promise<{ name: string; commands: Named[] }[]> {
  const all = GROUPS.map(async ({ name, usual, commands }) => ({
    name,
    commands: await load(which === 'usual' ? usual : [...commands.keys()]),
  }));
  return (await Promise.all(all)).filter(({ commands }) => commands.length > 0);
}

/** The command that the first word or the first two words name, and the arguments after them. */
export async function find(args: readonly string[]): Promise<{ command: Named; args: readonly string[] } | undefined> {
  for (const words of [1, 2]) {
    const name = args.slice(0, words).join(' ');
    if (args.length < words || !COMMANDS.has(name)) continue;
    const [command] = await load([name]);
    return { command: command!, args: args.slice(words) };
  }
  return undefined;
}
