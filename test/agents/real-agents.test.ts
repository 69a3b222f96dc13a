import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { cli, type Ended, start } from '../clients/cli/cli.ts';
import { openWorld, type World } from '../network/world.ts';
import { modelServer, type Seen } from './model-server.ts';

/** Where scripts/test-agents.sh installs the packages. */
const packages = process.env.PADDOCK_AGENTS!;
const GATE = 'gate.test';
const HOSTS = ['api.anthropic.com', 'api.openai.com', 'generativelanguage.googleapis.com', GATE];
const home = realpathSync(mkdtempSync('/tmp/paddock-agents-'));
const env = {
  HOME: home,
  PADDOCK_LOCAL_STATE: join(home, '.state'),
  // Not the caller's: sandboxes see the tools in it.
  PATH: `${packages}/node_modules/.bin:${packages}/python/bin:${dirname(process.execPath)}:/usr/bin:/bin`,
};
/** Of the shape of real ones; nobody knows them. */
const KEYS = {
  ANTHROPIC_API_KEY: `sk-ant-api03-${'r'.repeat(90)}AA`,
  CLAUDE_CODE_OAUTH_TOKEN: `sk-ant-oat01-${'r'.repeat(90)}AA`,
  OPENAI_API_KEY: `sk-proj-${'r'.repeat(60)}`,
  GEMINI_API_KEY: `AIza${'r'.repeat(35)}`,
};
/** The shell of an agent edits the file, and shows all that it can find of the key. */
const PROBE = "{ env; cat /proc/*/environ; grep -rs . ~; } | tr '\\0' '\\n' >found 2>/dev/null";
const script = { command: `echo new > a.txt; ${PROBE}`, file: 'a.txt', content: 'new\n' };
const seen: Seen[] = [];
let world: World;

beforeAll(async () => {
  world = await openWorld(
    modelServer(() => script, seen),
    HOSTS,
  );
  for (const host of HOSTS) world.names.set(host, () => world.address);
  mkdirSync(join(home, '.config/paddock'), { recursive: true });
  const network = { resolvers: [world.resolver], extra_ca: world.certificate };
  writeFileSync(join(home, '.config/paddock/server.yaml'), JSON.stringify({ network }));
});
afterAll(async () => {
  await cli(['server', 'stop'], { env });
  await world.close();
  rmSync(home, { recursive: true, force: true });
});

/** A repository of its own: nothing of another case is in it. */
function projectOf(): string {
  const project = mkdtempSync(join(home, 'project-'));
  writeFileSync(join(project, 'a.txt'), 'old\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: project, env });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');
  return project;
}

/** One that does not end, and its sandbox, end with the test. */
async function runAgent(words: string[], more: Record<string, string>): Promise<Ended> {
  const { child, ended } = start(words, { env: { ...env, ...more } });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    const { stdout } = await cli(['ls', '--json'], { env });
    for (const { id } of JSON.parse(stdout) as Bound[]) await cli(['rm', id], { env });
  });
  return ended;
}

interface Tried {
  name: string;
  key: keyof typeof KEYS;
  args: string[];
  /** Variables of the caller. */
  more?: Record<string, string>;
  /** The host that gets the key. */
  host: string;
}

const TRIED: Tried[] = [
  { name: 'claude', key: 'ANTHROPIC_API_KEY', args: ['-p', 'edit a.txt'], host: HOSTS[0]! },
  { name: 'claude', key: 'CLAUDE_CODE_OAUTH_TOKEN', args: ['-p', 'edit a.txt'], host: HOSTS[0]! },
  { name: 'codex', key: 'OPENAI_API_KEY', args: ['exec', 'edit a.txt'], host: HOSTS[1]! },
  { name: 'gemini', key: 'GEMINI_API_KEY', args: ['-p', 'edit a.txt'], host: HOSTS[2]! },
  { name: 'opencode', key: 'ANTHROPIC_API_KEY', args: ['run', 'edit a.txt'], host: HOSTS[0]! },
  {
    name: 'aider',
    key: 'OPENAI_API_KEY',
    args: ['--model', 'openai/gpt-4o', '--edit-format', 'whole', '--message', 'edit a.txt', 'a.txt'],
    host: HOSTS[1]!,
  },
];
const AT_GATE: Tried[] = [
  { ...TRIED[0]!, more: { ANTHROPIC_BASE_URL: `https://${GATE}` }, host: GATE },
  { ...TRIED[2]!, more: { OPENAI_BASE_URL: `https://${GATE}/v1` }, host: GATE },
  { ...TRIED[3]!, more: { GOOGLE_GEMINI_BASE_URL: `https://${GATE}` }, host: GATE },
  { ...TRIED[5]!, more: { OPENAI_API_BASE: `https://${GATE}/v1` }, host: GATE },
];

it.each([...TRIED, ...AT_GATE])(
  '$name edits a file with $key, which $host alone gets',
  { timeout: 300_000 },
  async (tried) => {
    const { name, key, args, more, host } = tried;
    seen.length = 0;
    const project = projectOf();
    const how = ['--timeout', '4m', '--keep', '--apply', 'all'];
    const words = ['run', '--from', project, ...how, '--agent', name, '--', ...args];
    const { code, stderr, stdout } = await runAgent(words, { ...more, [key]: KEYS[key] });
    const requests = seen.map((each) => `${each.method} ${each.host}${each.path}`);
    const shown = [stdout, stderr, 'requests:', ...requests].join('\n');
    expect([code, readFileSync(join(project, 'a.txt'), 'utf8')], shown).toEqual([0, 'new\n']);
    const [{ id, secrets }] = JSON.parse((await cli(['ls', '--json'], { env })).stdout) as [Bound];
    await cli(['resume', id], { env });
    // Also of an agent without a shell.
    const { stdout: found } = await cli(['exec', id, '--', 'sh', '-c', `${PROBE}; cat found`], { env });
    const withKey = seen.filter((each) => JSON.stringify(each.headers).includes(KEYS[key]));
    expect(new Set(withKey.map((each) => each.host))).toEqual(new Set([host]));
    const placeholder = secrets.find(({ variable }) => variable === key)!.placeholder;
    expect(found).toContain(placeholder);
    expect(found).not.toContain(KEYS[key]);
    expect(JSON.stringify(seen)).not.toContain(placeholder);
  },
);

interface Bound {
  id: string;
  secrets: { variable: string; placeholder: string }[];
}
