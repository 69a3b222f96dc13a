import { readFileSync } from 'node:fs';
import { command, one } from '../command-line/command.ts';
import { CliError, UsageError } from '../command-line/errors.ts';
import { printableName } from '../output/printable.ts';
import { askHidden } from '../terminal/ask-hidden.ts';
import { OWNER } from './secrets.ts';

/** More than the server takes. */
const MAX_BYTES = 70_000;

export const set = command({
  summary: 'store a secret, or replace it: its value is asked for, or read from standard input',
  details: `The value is never an argument: it appears in neither shell history nor ps. On a terminal it is asked for, and not
shown. Otherwise it is standard input, without the line end at its end. Sandboxes that are bound to the secret use the new
value from the next request on.`,
  operands: { name: one('SECRET') },
  options: {
    host: { multiple: true, value: 'HOST', help: 'where the value may be sent: a name, or *.NAME' },
    'from-file': { value: 'FILE', help: 'read the value from this file' },
    part: { multiple: true, value: 'PART', help: 'of requests: header (default), query, body' },
    header: { value: 'NAME', help: 'only in this header, like x-api-key' },
    shape: { value: 'TEXT', help: 'beginning of placeholders, like ghp_' },
    'keep-length': { help: 'placeholders are as long as the value' },
    owner: OWNER,
  },
  examples: [
    'paddock secret set github --host api.github.com --shape ghp_ < token',
    'paddock secret set llm --host api.llm.example --header x-api-key --from-file key',
    'pass show token | paddock secret set github --host api.github.com',
  ],
  async run(context, { operands: { name }, values }) {
    const { host: hosts = [], part: parts = [], header, shape, owner } = values;
    if (hosts.length === 0) throw new UsageError('secret set needs --host: where the value may be sent');
    const file = values['from-file'];
    const isAsked = file === undefined && process.stdin.isTTY;
    const given = isAsked
      ? await askHidden(`value of ${printableName(name)}: `, context.signal)
      : await (file === undefined ? fromInput() : fromFile(file));
    const value = given.replace(/\r?\n$/, '');
    const { secrets } = await context.paddock();
    const secret = { value, hosts, parts, header, shape, keepLength: values['keep-length'], ownerId: owner };
    const stored = await secrets.put(name, secret, { signal: context.signal });
    context.out.result(stored, () => `${stored.name}, revision ${stored.revision}`);
  },
});

async function fromInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > MAX_BYTES) throw new CliError('the value has more than 65536 bytes');
  }
  return textOf(Buffer.concat(chunks));
}

function fromFile(path: string): string {
  try {
    return textOf(readFileSync(path));
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) throw new CliError('the value is not text in UTF-8');
  return text;
}
