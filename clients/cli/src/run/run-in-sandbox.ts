import {
  type CreateOptions,
  type Duration,
  type FileChange,
  NotFoundError,
  type Paddock,
  type Sandbox,
} from 'paddock-sandbox';
import { isLeft, type PackOptions } from 'paddock-sandbox/local';
import type { Agent } from '../agents/agent.ts';
import { prepareAgent } from '../agents/prepare.ts';
import type { Context } from '../command-line/command.ts';
import { EXIT, sentenceOf } from '../command-line/errors.ts';
import { Interrupted } from '../command-line/signals.ts';
import { refreshIndex } from '../commits/refresh-index.ts';
import { commitsApart, settleCommits } from '../commits/settle.ts';
import type { Came } from '../commits/take.ts';
import { counted } from '../review/changes.ts';
import { choose, show, type Taken } from '../review/choose.ts';
import { ignoredIn } from '../review/ignored.ts';
import { wishesOf } from '../tools/options.ts';
import { type RunSandbox, runSandbox } from '../uploads/run-sandbox.ts';
import { allowed } from './ask-for-programs.ts';
import { type Brought, bring } from './bring.ts';
import { execute } from './execute.ts';
import { whilePublished } from './publish.ts';
import { refusalsOf, refusedByRules } from './refused-paths.ts';
import { report } from './report.ts';

export interface Run {
  /** Local directory; absent: the sandbox is empty, and nothing is applied. */
  from: string | undefined;
  /** Runs with `argv` as its arguments. */
  agent: { name: string; agent: Agent } | undefined;
  argv: readonly string[];
  interactive: boolean;
  tty: boolean;
  workdir: string | undefined;
  /** After it the command is killed. */
  timeout: Duration | undefined;
  /** Ports of the sandbox that are reached at ports of this machine meanwhile. */
  publish: readonly { port: number; localPort: number }[];
  /** Of --tools. */
  tools: readonly string[] | undefined;
  /** undefined: ask, if there is a terminal. */
  apply: 'all' | 'none' | undefined;
  keep: boolean;
  git: boolean;
  /** Also changes that git ignores in the directory. */
  ignored: boolean;
  /** Paths that tools run on sight and that come nevertheless. */
  allow: readonly string[];
  options: CreateOptions;
  pack: PackOptions;
}

/** Without use; also after a kill of this program. */
const KEPT: Duration = '24h';
const CLEAN_UP_MS = 30_000;

/** Returns the exit code of the command; of changes that should have been applied and were not: 125. */
export async function runInSandbox(context: Context, given: Run): Promise<number> {
  const { out } = context;
  const paddock = await context.paddock({ start: true });
  const agent = given.agent && (await prepareAgent(context, paddock, { ...given, ...given.agent }));
  const run = { ...given, ...agent };
  const { sandbox, ...owned } = await create(context, paddock, run).catch(async (error: unknown) => {
    await agent?.forget();
    throw error;
  });
  let kept = run.keep;
  const progress = { applying: false };
  try {
    for (const { message } of sandbox.info.warnings) out.warn(message);
    await agent?.furnish(sandbox);
    const place = { context, paddock, sandboxId: sandbox.id };
    const exitCode = await whilePublished(run.publish, place, () => execute(context, paddock, sandbox, run));
    // Before the sandbox is stopped.
    const refusals = await refusalsOf(sandbox);
    const { missing, keep, result } = await settle(context, sandbox, run, progress);
    kept ||= keep;
    const refused = refusedByRules(refusals);
    if (refused !== '') out.note(refused);
    if (out.json) out.value({ exitCode, sandboxId: sandbox.id, kept, refusals, ...result });
    return exitCode === 0 && missing ? EXIT.failed : exitCode;
  } catch (error) {
    if (progress.applying) out.note('not all changes were applied');
    // The work of the command is not lost by a failure.
    kept ||=
      progress.applying || (run.apply !== 'none' && !(error instanceof Interrupted) && (await mayHaveChanges(sandbox)));
    throw error;
  } finally {
    if (kept) {
      owned.keep();
      tellKept(sandbox, out);
    } else await remove(sandbox, owned, out);
  }
}

async function create(context: Context, paddock: Paddock, { from, pack, options, tools }: Run): Promise<RunSandbox> {
  const { out, signal } = context;
  const asked = wishesOf(context, paddock, options, { tools, byDefault: 'auto', from });
  const life = { idleTimeout: KEPT, onIdle: 'destroy', labels: { 'paddock.cli': 'run' } };
  const call = { paddock, out, signal, env: context.env };
  return runSandbox(call, { directory: from, pack, options: { ...options, ...life }, asked });
}

/** If the server cannot tell, there may be some. */
const mayHaveChanges = (sandbox: Sandbox): Promise<boolean> =>
  sandbox.changes({ signal: AbortSignal.timeout(CLEAN_UP_MS) }).then(
    (changes) => changes.length > 0,
    (error) => !(error instanceof NotFoundError),
  );

/** A failure is told, and hides neither the exit code of the command nor an error before. */
const remove = (sandbox: Sandbox, owned: Pick<RunSandbox, 'remove'>, out: Context['out']): Promise<void> =>
  owned.remove({ signal: AbortSignal.timeout(CLEAN_UP_MS) }).catch((error: unknown) => {
    if (!(error instanceof NotFoundError))
      out.warn(`the sandbox ${sandbox.id} could not be removed: ${sentenceOf(error)}`);
  });

interface Settled {
  /** Changes that were to be applied are not. */
  missing: boolean;
  /** They are only in the sandbox. */
  keep: boolean;
  result: { changes: readonly FileChange[]; brought?: Brought; commits?: readonly Came[] };
}

interface Progress {
  /** The directory has some of the changes, maybe. */
  applying: boolean;
}

/** Shows the commits and the changes, and brings those that are chosen. */
async function settle(context: Context, sandbox: Sandbox, run: Run, progress: Progress): Promise<Settled> {
  const { signal, signals } = context;
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
  const { last, count } = signals;
  // The user wanted the end, and cannot be asked or insists. One ^C on a terminal was for the command.
  if (last && (!isTerminal || last !== 'SIGINT' || count > 2)) throw new Interrupted(last);
  // What was shown of the commits is held here. It needs git in the sandbox, so that it runs still.
  const commits = await settleCommits(context, sandbox, { ...run, isTerminal });
  // Before the changes are shown: a process that goes on could change what was looked at.
  await sandbox.stop({ signal });
  const files = await settleFiles(context, sandbox, { ...run, isTerminal }, progress);
  return {
    missing: commits.missing || files.missing,
    keep: commits.keep || files.keep,
    result: { ...files.result, commits: commits.came },
  };
}

type Ending = Run & { isTerminal: boolean };

async function settleFiles(context: Context, sandbox: Sandbox, run: Ending, progress: Progress): Promise<Settled> {
  const { out, signal } = context;
  const { isTerminal } = run;
  const exclude = run.from === undefined || run.git ? [] : await commitsApart(run.from);
  const all = await sandbox.changes({ exclude, signal });
  const ignored = run.from === undefined || run.ignored ? NONE : await ignoredIn(run.from, all, context);
  if (ignored.size > 0) out.note(`left out: ${counted(ignored.size, 'path')} that git ignores; --ignored shows them`);
  const changes = all.filter(({ path }) => !ignored.has(path));
  if (changes.length === 0) return { missing: false, keep: false, result: { changes } };
  if (run.apply !== 'none' || isTerminal) await show(sandbox, changes, context);
  const taken = run.from === undefined ? 'none' : await decide(context, sandbox, changes, run);
  if (taken === undefined || run.from === undefined) {
    out.note(`${counted(changes.length, 'change')} not applied${run.from === undefined ? ': there is no --from' : ''}`);
    return { missing: false, keep: run.apply !== 'none' && !isTerminal, result: { changes } };
  }
  if (taken === 'none') return { missing: false, keep: false, result: { changes } };
  const { only, hunks } = wantedOf(taken, ignored);
  const asks = run.apply === undefined && isTerminal;
  const some = (path: string) => only(path) || hunks.some((each) => each.path === path);
  const answered = asks ? await allowed(sandbox, changes, { only: some, allow: run.allow }, context) : undefined;
  progress.applying = true;
  const allow = [...run.allow, ...(answered?.allow ?? [])];
  const brought = await bring(sandbox, run.from, { exclude, git: run.git, allow, signal, only, hunks });
  progress.applying = false;
  await refreshIndex(run.from, { path: context.env.PATH, signal });
  const missing = report(brought, out);
  // Nobody was asked for what was left out: it can still be had from the sandbox.
  const left = brought.skipped.some((each) => isLeft(each) && !answered?.paths.has(each.path));
  return { missing, keep: missing || left, result: { changes, brought } };
}

const NONE: ReadonlySet<string> = new Set();

const wantedOf = (taken: Exclude<Taken, 'none'>, ignored: ReadonlySet<string>) =>
  taken === 'all'
    ? { only: (path: string) => !ignored.has(path), hunks: [] }
    : { only: (path: string) => taken.paths.has(path), hunks: taken.hunks };

/** undefined: nobody can be asked. */
async function decide(
  context: Context,
  sandbox: Sandbox,
  changes: readonly FileChange[],
  { apply, isTerminal }: { apply: Run['apply']; isTerminal: boolean },
): Promise<Taken | undefined> {
  if (apply !== undefined) return apply;
  return isTerminal ? choose(sandbox, changes, context) : undefined;
}

function tellKept({ id }: Sandbox, out: Context['out']): void {
  out.note(`the sandbox ${id} is kept; see "paddock diff ${id}", "paddock pull ${id}", "paddock rm ${id}"`);
}
