import { createReadStream } from 'node:fs';
import { counted } from '../changes.ts';
import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { sizeOf } from '../local-file.ts';

export default command({
  name: 'import',
  summary: 'unpack a tar archive into a sandbox, all or nothing',
  usage: 'SANDBOX [FILE]',
  details: 'Without FILE, or with "-", the archive is read from standard input.',
  options: { to: { type: 'string', value: 'PATH', help: 'directory of the sandbox; default: /workspace' } },
  examples: ['paddock import ID files.tar', 'git archive HEAD | paddock import ID'],
  operands: [1, 2],
  async run(context, { operands: [id, file = '-'], values }) {
    const { out, signal } = context;
    const size = file === '-' ? undefined : await sizeOf(file);
    const sandbox = await findSandbox(context, id!);
    const source = () => (file === '-' ? process.stdin : createReadStream(file));
    const pieces = () => out.progress('importing').count(source(), size);
    // Standard input cannot be read twice: only a function is sent again.
    const done = await sandbox.files.upload(file === '-' ? pieces() : pieces, values.to ?? '', { as: 'owner', signal });
    out.result(done, () => `${counted(done.files, 'file')} copied`);
    return 0;
  },
});
