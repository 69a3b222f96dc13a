import { dirname, join } from 'node:path';
import aider from '../../agents/aider.json' with { type: 'json' };
import claude from '../../agents/claude.json' with { type: 'json' };
import codex from '../../agents/codex.json' with { type: 'json' };
import gemini from '../../agents/gemini.json' with { type: 'json' };
import opencode from '../../agents/opencode.json' with { type: 'json' };
import { UsageError } from '../command-line/errors.ts';
import { configPath, type Env } from '../server/config-file.ts';
import { ofCallerAlone } from '../settings/read-checked.ts';
import { readYaml } from '../settings/read-yaml.ts';
import { type Agent, checkedAgent } from './agent.ts';

const BUNDLED: Readonly<Record<string, unknown>> = { aider, claude, codex, gemini, opencode };

/**
 * The agent of that name: the user's own file, else the bundled one. It chooses hosts and which variables are read, so it is
 * never a project's.
 */
export function findAgent(name: string, env: Env): Agent {
  const directory = join(dirname(configPath(env)), 'agents');
  // It is part of a path, and of the name of a secret.
  const own = /^[a-z0-9][a-z0-9-]{0,19}$/.test(name)
    ? readYaml(join(directory, `${name}.yaml`), ofCallerAlone, { follow: true })
    : undefined;
  if (own) return checkedAgent(own.values, own.path);
  if (Object.hasOwn(BUNDLED, name)) return checkedAgent(BUNDLED[name], name);
  throw new UsageError(
    `--agent is ${Object.keys(BUNDLED).join(', ')}, or NAME of ${directory}/NAME.yaml; got ${JSON.stringify(name)}`,
  );
}
