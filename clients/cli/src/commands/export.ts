import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportChanges } from '../../../typescript/src/changes.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { warnOfUnpacked } from '../unpacked.ts';

export default command({
  name: 'export',
  summary: 'write the files of a sandbox as a tar archive',
  usage: 'SANDBOX [PATH]',
  options: {
    output: { type: 'string', short: 'o', value: 'FILE', help: 'write to a file; default: standard output' },
    changes: { type: 'boolean', help: 'only what is changed; removed files as whiteouts are left out' },
  },
  examples: ['paddock export ID -o files.tar', 'paddock export ID src | tar -x'],
  operands: [1, 2],
  async run(context, { operands: [id, path], values: { output, changes } }) {
    const { out, signal } = context;
    if (output === undefined && out.isTerminal) throw new UsageError('an archive is not for a terminal: use -o FILE');
    const sandbox = await findSandbox(context, id!);
    const choice = { ...(path !== undefined && { paths: [path] }), signal };
    await warnOfUnpacked(sandbox, { selection: choice, format: 'tar' }, out);
    const body = changes
      ? (await exportChanges(sandbox.api, sandbox.id, choice, { format: 'tar', whole: false })).body
      : await sandbox.files.download(path ?? '', { as: 'owner', signal });
    const pieces = out.progress('exporting').count(Readable.fromWeb(body as never));
    if (output === undefined) await pipeline(pieces, stdout(), { signal });
    else await toFile(pieces, output, signal);
    return 0;
  },
});

/** Not closed at the end. */
const stdout = () => new Writable({ write: (piece, _, done) => void process.stdout.write(piece, () => done()) });

/** The whole archive or none. A device or a FIFO is written to, and not replaced. */
async function toFile(pieces: AsyncIterable<Uint8Array>, file: string, signal: AbortSignal): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found && !found.isFile() && !found.isDirectory()) {
    await pipeline(pieces, createWriteStream(file), { signal });
    return;
  }
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await pipeline(pieces, createWriteStream(temporary, { flags: 'wx' }), { signal });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
