import { checks, durations, InvalidArgumentError, operations } from 'paddock-sandbox';
import { any, command, one } from '../command-line/command.ts';
import { CliError, UsageError } from '../command-line/errors.ts';
import { inFields } from '../command-line/option-of-field.ts';

type Name = Exclude<keyof typeof operations, 'attachProcess'>;
type Method = (...args: unknown[]) => Promise<unknown> | AsyncIterable<unknown>;

/** As in docs/openapi.json: attach is a conversation, and has a command of its own. */
const NAMES = Object.entries(operations)
  .filter(([, { kind }]) => kind !== 'attach')
  .map(([name]) => name[0]!.toUpperCase() + name.slice(1));

export const api = command({
  summary: 'call an operation of the service by its name',
  details: `The names of operations and fields are those of /docs. A value is a text, a number or true or false; with ":=" it is
JSON. A length of time is a number, as in /docs, or like 5m. Answers are JSON, those of lists and streams on a line each. Files and
archives are standard input and standard output.`,
  operands: { operation: { ...one('OPERATION'), oneOf: NAMES }, fields: any('FIELD=VALUE') },
  options: {},
  examples: [
    'paddock api GetSandbox sandbox_id=SANDBOX',
    'paddock api Commit sandbox_id=SANDBOX paths:=\'["src"]\' dry_run=true',
  ],
  async run({ out, signal, paddock }, { operands: { operation, fields } }) {
    const name = (operation[0]!.toLowerCase() + operation.slice(1)) as Name;
    const request = Object.fromEntries(fields.map((each) => fieldOf(each, name)));
    const call = (await paddock()).api[name] as Method;
    const { kind, list }: { kind: string; list?: string } = operations[name];
    const body = kind === 'raw' ? [process.stdin] : [];
    try {
      const answer = call(request, ...body, { signal });
      if (list !== undefined || kind === 'events')
        for await (const each of answer as AsyncIterable<unknown>) out.record(shown(each));
      else if (kind === 'unary' || kind === 'raw') out.value(shown((await answer) ?? {}));
      else await out.flow(((await answer) as Response).body as unknown as AsyncIterable<Uint8Array>);
    } catch (error) {
      // Of fields, and not of the options of other commands.
      throw error instanceof InvalidArgumentError ? new CliError(inFields(error.message), { cause: error }) : error;
    }
  },
});

/** Bytes are base64, as in the JSON of the API. */
function shown(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shown(each)]));
}

/** Values that are no texts, by the form of their field. */
const WORDS: Readonly<Record<string, RegExp>> = { boolean: /^(true|false)$/, integer: /^(0|-?[1-9]\d*)$/ };

/** The client has the names of fields in camel case. */
function fieldOf(given: string, operation: Name): [name: string, value: unknown] {
  const [, field = '', mark, text = ''] = /^(\w+)(:?=)(.*)$/s.exec(given) ?? [];
  if (field === '') throw new UsageError(`a field is like sandbox_id=sb_1, not ${given}`);
  const name = field.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const known = operations[operation].fields.replace(/!\w*/g, '').split(' ');
  if (!known.includes(name)) {
    const allowed = known.join(', ').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    throw new UsageError(`${field} is no field of the operation; it has ${allowed || 'none'}`);
  }
  const perSecond = durations[field];
  if (perSecond !== undefined && /^\d+$/.test(text)) return [name, `${(Number(text) * 1000) / perSecond}ms`];
  const [form = ''] = (checks[`${operation}.${name}`] ?? checks[name])?.split(' ') ?? [];
  if (mark === '=' && !WORDS[form]?.test(text)) return [name, text];
  try {
    return [name, JSON.parse(text)];
  } catch {
    throw new UsageError(`the value of ${field} is not valid JSON: a text is ${field}=VALUE`);
  }
}
