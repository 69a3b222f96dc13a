import { homedir } from 'node:os';
import type { CreateOptions, Paddock, Sandbox } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { CliError } from '../command-line/errors.ts';
import { printableName } from '../output/printable.ts';
import { takesToolsOf, workspaceOf } from '../tools/options.ts';
import type { Agent } from './agent.ts';
import { homeFiles } from './home-files.ts';
import { keysOf } from './keys.ts';
import { placeFiles } from './place-files.ts';
import { findProgram } from './program.ts';
import { removeSecrets, storeKeys } from './secrets.ts';

export interface Wanted {
  name: string;
  agent: Agent;
  /** Of the caller, after those of the agent. */
  argv: readonly string[];
  from: string | undefined;
  tools: readonly string[] | undefined;
  tty: boolean;
  options: CreateOptions;
}

export interface Prepared {
  argv: readonly string[];
  tools: readonly string[] | undefined;
  options: CreateOptions;
  /** Before the command runs. */
  furnish(sandbox: Sandbox): Promise<void>;
  /** If there is no sandbox: the end of one removes its secrets. */
  forget(): Promise<void>;
}

/** What a sandbox needs to run an agent. Its keys are stored as secrets when this resolves. */
export async function prepareAgent(context: Context, paddock: Paddock, wanted: Wanted): Promise<Prepared> {
  const { env, out, signal } = context;
  const { name, agent, options } = wanted;
  const program = programOf(context, paddock, wanted);
  const given = new Set([
    ...Object.keys(options.env ?? {}),
    ...(options.secrets ?? []).flatMap((each) => each.variable ?? []),
  ]);
  const keys = keysOf(name, agent, env, given);
  for (const note of keys.notes) out.note(`paddock: ${note}`);
  const stored = await storeKeys(paddock, name, keys.held, signal);
  const bindings = keys.held.map(({ variable }, index) => ({ name: stored[index]!, variable }));
  const secrets = [...(options.secrets ?? []), ...bindings];
  const variables: Record<string, string> = {
    ...passed(agent.pass, env),
    ...agent.env,
    // Nobody types or looks otherwise.
    ...(wanted.tty && { CI: 'false', ...passed(['COLORTERM', 'TERM_PROGRAM'], env) }),
    ...keys.env,
    ...options.env,
  };
  const network = { mode: 'allow_list', ...options.network };
  return {
    argv: [program.path, ...agent.args, ...wanted.argv],
    tools: toolsWith(wanted.tools, program.mounts),
    options: {
      ...options,
      secrets,
      env: variables,
      network: { ...network, rules: [...(network.rules ?? []), ...keys.rules] },
    },
    forget: () => removeSecrets(paddock.api, stored),
    furnish: async (sandbox) => {
      const { secrets: bound, workspacePath } = sandbox.info;
      const placeholders = Object.fromEntries(bound.map((each) => [each.variable, each.placeholder]));
      const workspace = { workspace: workspacePath || '/workspace' };
      const files = homeFiles(agent.files, {
        home: env.HOME || homedir(),
        variables: { ...variables, ...placeholders, ...workspace },
        skipped: (path, reason) => out.warn(`~/${printableName(path)} is not copied: ${reason}`),
      });
      await placeFiles(sandbox, files, signal);
    },
  };
}

/** That of this machine, if the server can show it; otherwise that of the image, by its name. */
function programOf({ env }: Context, paddock: Paddock, { name, agent, from, options }: Wanted) {
  if (!takesToolsOf(paddock, options, env)) return { path: agent.command, mounts: [] };
  const program = findProgram(agent.command, { env, workspace: from === undefined ? undefined : workspaceOf(from) });
  if (program) return program;
  throw new CliError(`${name} is not installed: ${agent.command} is not in PATH. Run: ${agent.install}`);
}

/** With none, only the agent's own. */
function toolsWith(tools: readonly string[] | undefined, mounts: readonly string[]): readonly string[] | undefined {
  if (mounts.length === 0) return tools;
  return [...(tools ?? ['auto']).filter((each) => each !== 'none'), ...mounts];
}

const passed = (names: readonly string[], env: Context['env']): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
