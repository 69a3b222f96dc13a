import { counted } from '../changes.ts';
import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { packOptionsOf, UPLOAD_OPTIONS } from '../sandbox-options.ts';
import { directoryBody } from '../upload.ts';

export default command({
  name: 'push',
  summary: 'copy a local directory into a sandbox, all or nothing',
  usage: 'SANDBOX [DIR]',
  details: 'Files of the sandbox that are not in the directory stay. The rules do not apply: the owner copies.',
  options: {
    to: { type: 'string', value: 'PATH', help: 'directory of the sandbox; default: /workspace' },
    ...UPLOAD_OPTIONS,
  },
  examples: ['paddock push ID .', 'paddock push ID ./data --to data'],
  operands: [1, 2],
  async run(context, { operands: [id, directory = '.'], values }) {
    const { out, signal } = context;
    const body = await directoryBody(directory, packOptionsOf(values), out);
    const sandbox = await findSandbox(context, id!);
    const done = await sandbox.files.upload(body, values.to ?? '', { as: 'owner', signal });
    out.result(done, () => `${counted(done.files, 'file')} copied`);
    return 0;
  },
});
