import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeAuthorities, TRUST } from './authorities.ts';
import { online } from './convenience.ts';
import { AGENT_DIR } from './places.ts';

/** Name of the script in the agent directory that sets the variables of a network. */
const FILE = 'network';

/** Whether the network of a sandbox is open, for the commands that start from now on. */
export class OpenNetwork {
  readonly #dir: string;
  #isOpen = false;

  constructor(agentDir: string) {
    this.#dir = agentDir;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** What the shell of a command runs first. */
  get before(): string {
    return this.#isOpen ? `. ${AGENT_DIR}/${FILE}; ` : '';
  }

  /** `variables`: beside those of the proxy; undefined: it is closed. The script is whole at any time. */
  set(variables: Readonly<Record<string, string>> | undefined, authorities?: string): void {
    if (variables !== undefined) {
      if (authorities !== undefined) placeAuthorities(this.#dir, authorities);
      const path = join(this.#dir, FILE);
      const all = authorities === undefined ? variables : { ...TRUST, ...variables };
      writeFileSync(`${path}.new`, online(all), { mode: 0o444 });
      renameSync(`${path}.new`, path);
    }
    this.#isOpen = variables !== undefined;
  }
}
