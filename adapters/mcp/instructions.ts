import type { Granted } from '../../lib/services.ts';

const ORCHESTRATOR =
  'Sandboxes are isolated copies of codebases. Create one, work in it with the tools that take sandbox_id, look at its changes, then commit or discard them.';
const AGENT = [
  'You work in a sandbox: files are in /workspace, commands run there, and paths are relative to it. Files and background commands stay between calls; the shell of exec does not, that of session_exec does.',
  'A path that the rules hide does not exist for you (ENOENT), and secrets are placeholders. A refusal does not change on retry; access_explain says why.',
  'Work with these tools only: a shell or an editor that your client has besides works outside of the sandbox.',
  'Nothing changes outside until the owner commits.',
].join(' ');

const NETWORK: Readonly<Record<string, string>> = {
  none: 'Commands have no network.',
  allow_list: 'Commands reach allowed hosts only; exec names those that were refused.',
  open: 'Commands reach public addresses.',
};

/** Patterns of a line. Presets have a dozen that matter little. */
const MOST_PATTERNS = 8;
const MOST_CHARACTERS = 60;

/** What the server tells a model when it connects. `granted`: of the agent's sandbox; undefined: the orchestrator's face. */
export function instructionsFor(granted: Granted | undefined): string {
  if (granted === undefined) return ORCHESTRATOR;
  return `${AGENT} ${NETWORK[granted.network] ?? NETWORK.none}\nWritable: ${shown(granted.write)}\nReadable besides: ${shown(granted.read)}`;
}

function shown(patterns: readonly string[]): string {
  if (patterns.includes('**')) return 'everything that no other rule restricts';
  const short = patterns.filter((pattern) => pattern.length <= MOST_CHARACTERS).slice(0, MOST_PATTERNS);
  const names = short.map((pattern) => JSON.stringify(pattern)).join(', ');
  if (short.length === patterns.length) return names || 'nothing';
  return `${names || 'paths with long names'} and ${patterns.length - short.length} more patterns`;
}
