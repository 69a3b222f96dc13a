import { command } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { NAME_LABEL } from '../names/sandboxes.ts';
import { labelsOf } from '../options/labels.ts';
import { DEFAULT_RULES, packOptionsOf, SANDBOX_OPTIONS, sandboxOptionsOf, UPLOAD_OPTIONS } from '../options/sandbox.ts';
import { withProject } from '../settings/with-project.ts';
import { TOOLS_OPTION, wishesOf } from '../tools/options.ts';
import { createFrom, createWith } from '../uploads/new-sandbox.ts';

export const create = command({
  summary: 'create a sandbox and print its id',
  details: DEFAULT_RULES,
  operands: {},
  options: {
    from: { value: 'DIR', help: 'files of the sandbox: a local directory' },
    codebase: { value: 'CODEBASE', help: 'instead: the codebase with this id' },
    name: { value: 'NAME', help: 'name of the sandbox, for other commands' },
    label: { multiple: true, value: 'NAME=VALUE', help: 'label' },
    ...TOOLS_OPTION,
    ...SANDBOX_OPTIONS,
    ...UPLOAD_OPTIONS,
  },
  examples: ["paddock create --from . --rule 'write:src/**'", 'ID=$(paddock create --from .)'],
  async run(context, { values: given }) {
    const { out, env, paddock, signal } = context;
    const values = await withProject(context, given, given.from);
    const { from, codebase, name, label } = values;
    if (from !== undefined && codebase !== undefined) throw new UsageError('--from and --codebase exclude each other');
    const labels = { ...labelsOf(label), ...(name !== undefined && { [NAME_LABEL]: name }) };
    const options = { ...sandboxOptionsOf(values, env), labels };
    const client = await paddock({ start: true });
    const { tools } = values;
    const asked = wishesOf({ out, env }, client, options, { tools, byDefault: 'none', from });
    const sandbox =
      codebase === undefined
        ? await createFrom(
            { paddock: client, out, signal, env },
            { directory: from, pack: packOptionsOf(values), options, asked },
          )
        : await createWith(client, { ...options, codebase, signal }, asked);
    for (const { message } of sandbox.info.warnings) out.warn(message);
    out.result(sandbox.info, () => sandbox.id);
  },
});
