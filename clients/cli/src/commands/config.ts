import { command, optional } from '../command-line/command.ts';
import { CliError } from '../command-line/errors.ts';
import { localDirectory } from '../local/record.ts';
import { ownSettings } from '../local/start.ts';
import { printableText, quotedName } from '../output/printable.ts';
import { serverSettingsPath } from '../server/config-file.ts';
import { extensions, findProject, projectSettings } from '../settings/project.ts';
import { flat, serverSettings } from '../settings/server-settings.ts';
import { isTrusted, trust as trustProject } from '../settings/trust.ts';

export const show = command({
  summary: 'show the settings of the local server and of the project, with the source of each',
  details: `The local server has its own settings, and over them those of ~/.config/paddock/server.yaml, with the keys of
configs/server.yaml. A new sandbox has those of the project's .paddock.yaml, in DIR or above: preset, rules, network,
tools, limits and secrets.`,
  operands: { directory: optional('DIR') },
  options: {},
  examples: ['paddock config show'],
  async run({ out, env }, { operands: { directory = '.' } }) {
    const project = findProject(directory);
    const settings = project && projectSettings(project);
    const user = serverSettings(env);
    const given = flat(user?.values ?? {});
    const isOwn = ([key]: readonly [string, unknown]) => !given.some(([name]) => name === key);
    const own = flat(ownSettings(localDirectory(env), undefined, env)).filter(isOwn);
    const rows = [
      ...own.map(([key, value]) => ({ key, value, source: 'the local server' })),
      ...given.map(([key, value]) => ({ key, value, source: user!.path })),
      ...Object.entries(settings ?? {}).map(([name, value]) => ({ key: `--${name}`, value, source: project!.path })),
    ];
    const needsYes = project !== undefined && extensions(settings!).length > 0 && !isTrusted(project, env);
    if (out.json) out.value({ settings: rows, serverSettings: serverSettingsPath(env), needsYes });
    else
      for (const { key, value, source } of rows)
        out.line(`${quotedName(key)} = ${JSON.stringify(value)}    (${quotedName(source)})`);
    if (needsYes) out.note(`paddock: ${quotedName(project.path)} needs a yes: paddock config trust`);
  },
});

export const trust = command({
  summary: "show the project's .paddock.yaml, and say yes to what it asks for until its text changes",
  operands: { directory: optional('DIR') },
  options: {},
  examples: ['paddock config trust'],
  async run({ out, env }, { operands: { directory = '.' } }) {
    const project = findProject(directory);
    if (project === undefined) throw new CliError(`there is no .paddock.yaml in ${quotedName(directory)} or above`);
    projectSettings(project);
    // Exactly the text that is trusted.
    out.note(`paddock: trusted from now on is ${quotedName(project.path)}:\n${printableText(project.text)}`);
    trustProject(project, env);
  },
});
