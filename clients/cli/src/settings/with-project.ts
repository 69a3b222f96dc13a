import type { Context } from '../command-line/command.ts';
import { CliError } from '../command-line/errors.ts';
import { quotedName } from '../output/printable.ts';
import { extensions, findProject, type ProjectSettings, projectSettings, restrictions } from './project.ts';
import { isTrusted, trust } from './trust.ts';

/**
 * The options of a new sandbox with those of the project's file, which is found at or above the directory. What is given on
 * the command line comes first; rules and hosts are added. Without a yes to this text of the file, and nobody to ask, a file
 * that wants more than to hide is refused.
 */
export async function withProject<V extends ProjectSettings>(
  { env, out, signal }: Pick<Context, 'env' | 'out' | 'signal'>,
  values: V,
  directory: string | undefined,
): Promise<V> {
  const file = directory === undefined ? undefined : findProject(directory);
  if (file === undefined) return values;
  const settings = projectSettings(file);
  const more = extensions(settings);
  if (more.length > 0 && !isTrusted(file, env)) {
    const wish = `${quotedName(file.path)} asks for ${more.map(quotedName).join(', ')}`;
    if (!process.stdin.isTTY || !process.stderr.isTTY) {
      throw new CliError(`${wish}: look at it, then say yes once with "paddock config trust"`);
    }
    const { ask } = await import('../review/ask.ts');
    const answer = await ask(`${wish}. Trust this text of it from now on? [y]es, [n]o: `, ['yes', 'no'], signal);
    if (answer !== 'yes') throw new CliError(`${quotedName(file.path)} is not trusted`);
    trust(file, env);
  }
  out.note(`paddock: with the settings of ${quotedName(file.path)} ("paddock config show" shows them)`);
  return joined(values, settings);
}

const ADDED = ['rule', 'allow', 'deny', 'allow-preset', 'secret'] as const;

/** Of rules that only hide, the preset stays what it is without rules. */
function joined<V extends ProjectSettings>(values: V, settings: ProjectSettings): V {
  const added = ADDED.flatMap((name) => {
    const all = [...(settings[name] ?? []), ...(values[name] ?? [])];
    return all.length > 0 ? [[name, all]] : [];
  });
  const hidesOnly = settings.rule?.length === restrictions(settings).rule?.length;
  const preset = hidesOnly && (values.rule ?? []).length === 0 ? { preset: 'development' } : {};
  return { ...preset, ...settings, ...values, ...Object.fromEntries(added) };
}
