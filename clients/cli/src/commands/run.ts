import { findAgent } from '../agents/find-agent.ts';
import { command } from '../command-line/command.ts';
import { CliError, UsageError } from '../command-line/errors.ts';
import { portsOf } from '../forward/ports.ts';
import { wholeSecondsOf } from '../options/durations.ts';
import { DEFAULT_RULES, packOptionsOf, SANDBOX_OPTIONS, sandboxOptionsOf, UPLOAD_OPTIONS } from '../options/sandbox.ts';
import { HOME_OPTIONS, takenPaths } from '../review/changes.ts';
import { runInSandbox } from '../run/run-in-sandbox.ts';
import { withProject } from '../settings/with-project.ts';
import { TOOLS_OPTION } from '../tools/options.ts';

export const run = command({
  summary: 'run a command on a copy of a directory, and choose what of its changes to take',
  details: `
The directory is copied into a new sandbox, and the command runs there. Then the changes are shown. Those that you take
are applied to the directory: all, some files, or some hunks of a file. The sandbox is destroyed at the end. The exit code
is that of the command.

Paths that git ignores and does not track are left out. Files that you edited meanwhile are merged line by line. If both
sides changed the same lines, your version stays. Files that tools run on sight, like .envrc, have a question of their own.
Commits come as a branch paddock/NAME, which is not checked out.

Without a terminal nothing is applied, and a sandbox with changes is kept for a day: "paddock pull" and "paddock rm" go on
with it. --apply decides instead. A sandbox with conflicts is kept. So is one whose changes a signal kept from being
applied to the end. Interrupted earlier, it leaves nothing behind.

${DEFAULT_RULES}

The command sees the files at /workspace and at their own path, and starts there. With the local server it also sees the
tools in your PATH; --tools says which.

--agent runs an agent that is installed here, in a terminal if there is one. It can connect to its service, where a
placeholder stands for the key that is set here, like ANTHROPIC_API_KEY. It gets your settings without credentials.`,
  operands: {},
  options: {
    from: { value: 'DIR', help: 'the directory; without it the sandbox is empty' },
    interactive: { short: 'i', help: 'send standard input to the command' },
    agent: {
      value: 'NAME',
      help: 'run this agent, with the arguments: claude, codex, gemini, opencode, aider or your own',
    },
    tty: { short: 't', help: 'give the command a terminal' },
    workdir: { short: 'w', value: 'DIR', help: 'working directory of the command' },
    timeout: {
      value: 'TIME',
      read: wholeSecondsOf,
      help: 'kill the command after this time, like 30s or 5m; exit code 124',
    },
    publish: {
      short: 'p',
      multiple: true,
      value: 'PORT[:LOCAL-PORT]',
      help: 'reach a port of the sandbox at one of 127.0.0.1 meanwhile',
    },
    apply: { oneOf: ['all', 'none'], help: 'do not ask: apply all changes, or none and destroy the sandbox' },
    yes: { short: 'y', help: 'the same as --apply all' },
    keep: { help: 'keep the sandbox in any case' },
    ignored: { help: 'also files that git ignores and does not track, like outputs of builds' },
    ...HOME_OPTIONS,
    ...TOOLS_OPTION,
    ...SANDBOX_OPTIONS,
    ...UPLOAD_OPTIONS,
  },
  examples: [
    'paddock run --from . -- npm test',
    'paddock run --from . --agent claude',
    'paddock run --from . --agent codex -- exec "fix the tests"',
    'paddock run --from . --apply all -- npx prettier --write src',
    'paddock run --from . --publish 3000 --memory 2g --cpus 2 -- npm start',
  ],
  runs: true,
  async run(context, { values: given, rest }) {
    const values = await withProject(context, given, given.from);
    const { yes, apply = yes ? 'all' : undefined } = values;
    // A project names the agent that runs where no command is given.
    const name = given.agent ?? (rest.length === 0 ? values.agent : undefined);
    if (rest.length === 0 && name === undefined) throw new UsageError('run needs a command, or --agent');
    if (yes && apply === 'none') throw new UsageError('--yes and --apply none exclude each other');
    const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true && !context.out.json;
    const { interactive = false, tty = false } = {
      ...(name !== undefined && isTerminal && { interactive: true, tty: true }),
      ...values,
    };
    if (tty && context.out.json) throw new UsageError('-t and --json exclude each other');
    if (interactive && tty && !process.stdin.isTTY) throw new CliError('standard input is no terminal: leave out -t');
    return runInSandbox(context, {
      from: values.from,
      agent: name === undefined ? undefined : { name, agent: findAgent(name, context.env) },
      argv: rest,
      interactive,
      tty,
      workdir: values.workdir,
      timeout: values.timeout,
      publish: (values.publish ?? []).map(portsOf),
      tools: values.tools,
      apply,
      keep: values.keep ?? false,
      git: values.git ?? false,
      ignored: values.ignored ?? false,
      allow: takenPaths(values.take),
      options: sandboxOptionsOf(values, context.env),
      pack: packOptionsOf(values),
    });
  },
});
