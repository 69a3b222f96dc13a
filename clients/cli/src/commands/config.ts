import { command } from '../command.ts';
import { serverSettingsPath } from '../config-file.ts';
import { CliError } from '../errors.ts';
import { localDirectory } from '../local/record.ts';
import { ownSettings } from '../local/start.ts';
import { printableText, quotedName } from '../printable.ts';
import { extensions, findProject, projectSettings } from '../settings/project.ts';
import { flat, serverSettings } from '../settings/server-settings.ts';
import { isTrusted, trust } from '../settings/trust.ts';

interface Shown {
  key: string;
  value: unknown;
  source: string;
}

export default command({
  name: 'config',
  summary: 'show the settings of the local server and of the project, with the source of each',
  usage: '[DIR]',
  details: `
The local server has its own settings, and over them those of ~/.config/paddock/server.yaml (keys as in
configs/server.yaml). A new sandbox has those of the project's .paddock.yaml, in DIR or above: preset, rules,
network, tools, limits and secrets. --trust shows that file and says yes to what it asks for, until its text changes.`,
  options: { trust: { type: 'boolean', help: "say yes to the project's file as it is now" } },
  examples: ['paddock config', 'paddock config --trust'],
  operands: [0, 1],
  async run({ out, env }, { operands: [directory = '.'], values }) {
    const project = findProject(directory);
    const settings = project && projectSettings(project);
    if (values.trust) {
      if (project === undefined) throw new CliError(`there is no .paddock.yaml in ${quotedName(directory)} or above`);
      // Exactly the text that is trusted.
      out.note(`paddock: trusted from now on is ${quotedName(project.path)}:\n${printableText(project.text)}`);
      trust(project, env);
    }
    const user = serverSettings(env);
    const given = flat(user?.values ?? {});
    const own = flat(ownSettings(localDirectory(env), undefined, env)).filter(
      ([key]) => !given.some(([name]) => name === key),
    );
    const rows: Shown[] = [
      ...own.map(([key, value]) => ({ key, value, source: 'the local server' })),
      ...given.map(([key, value]) => ({ key, value, source: user!.path })),
      ...Object.entries(settings ?? {}).map(([option, value]) => ({
        key: `--${option}`,
        value,
        source: project!.path,
      })),
    ];
    const needsYes = project !== undefined && extensions(settings!).length > 0 && !isTrusted(project, env);
    if (out.json) out.value({ settings: rows, serverSettings: serverSettingsPath(env), needsYes });
    else for (const { key, value, source } of rows) out.line(quotedLine(key, value, source));
    if (needsYes) out.note(`paddock: ${quotedName(project.path)} needs a yes: paddock config --trust`);
    return 0;
  },
});

const quotedLine = (key: string, value: unknown, source: string): string =>
  `${quotedName(key)} = ${JSON.stringify(value)}    (${quotedName(source)})`;
