import type { SandboxRecord } from '../../metadata/metadata.ts';
import { placeholdersOf } from '../../network/secrets/bindings.ts';
import type { Command } from '../../runtime/runtime.ts';

type Surroundings = Pick<Command, 'env' | 'workdir'> & { shell: string };

/** What a command, process or session starts with: the sandbox's own where the request has nothing. */
export function withDefaults(
  { shell, env, workdir }: Surroundings,
  own: Pick<SandboxRecord, 'shell' | 'env' | 'workdir' | 'secrets'>,
): Surroundings & { ownWorkdir: boolean } {
  return {
    shell: shell || own.shell,
    env: isEmpty(own.env) && own.secrets === undefined ? env : { ...own.env, ...placeholdersOf(own), ...env },
    workdir: workdir || own.workdir,
    ownWorkdir: workdir === '' && own.workdir !== '',
  };
}

function isEmpty(map: Readonly<Record<string, string>>): boolean {
  for (const _ in map) return false;
  return true;
}
