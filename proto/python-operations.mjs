// The operations as the Python client has them.
import { durationsOf, listedOf } from './client-forms.mjs';
import { requiredFields, rowsOf } from './render-client.mjs';
import { SCALARS } from './render-python.mjs';

export const DO_NOT_EDIT = 'Generated from proto/service/v1 and handlers/index.ts by `npm run generate`; do not edit.';
/** Fields that the methods fill themselves. */
export const OWN = new Set('argv chunk keepalive page_size page_token stdin_bytes'.split(' '));
/** Fields that are sent under the name of another one, by their type. */
const UNITED = { command: ['argv', 'Command'], stdin: ['stdin_bytes', 'str | bytes'] };
/** Fields that are arguments of their own, so that methods by hand can have another default or type. */
const SUBJECTS = new Set('count path paths port process_id validate_only yield_after'.split(' '));
export const OPTIONS = ['timeout', 'max_retries'];
export const WIDTH = 120;

export const snake = (name) => name.replace(/(?!^)([A-Z])/g, '_$1').toLowerCase();

/** PEP 8's form of a name that is a keyword. */
export const argument = ({ name, twin }) => (twin === undefined ? name : `${name}_`);

/** Each operation with its row, its rpc, and the fields of its request: those that must be given, and the others. */
export function operationsOf(contract, table) {
  const { messages, rpcs } = contract;
  const durations = durationsOf(contract);
  const byName = new Map(messages.map((message) => [message.name, message]));
  return [...rowsOf(table)]
    .filter(([, { kind }]) => kind !== 'attach')
    .map(([name, row]) => {
      const rpc = rpcs.find((each) => each.name === name);
      const all = byName.get(rpc?.request)?.fields ?? [];
      const fields = all
        .filter((each) => !each.isTwin && !OWN.has(each.name))
        .map((field) => ({ ...field, isDuration: durations.has(field.name), united: unitedOf(field, all) }));
      const required = ['command', ...requiredFields(row)];
      const isRequired = (field) => required.includes(field.name);
      const response = byName.get(rpc?.response);
      return {
        ...{ name, row, rpc, response, listed: listedOf(response), all: all.filter((each) => !each.isTwin) },
        required: fields.filter(isRequired),
        subjects: fields.filter((each) => !isRequired(each) && SUBJECTS.has(each.name)),
        optional: fields.filter((each) => !isRequired(each) && !SUBJECTS.has(each.name)),
        isTimed: fields.some((each) => each.name === 'timeout'),
      };
    });
}

function unitedOf({ name }, fields) {
  const [other, type] = UNITED[name] ?? [];
  return fields.some((each) => each.name === other) ? type : undefined;
}

export function typeOf(field, isPatch = false) {
  const { type, kind, repeated, map, united } = field;
  if (united !== undefined) return united;
  if (field.isDuration) return 'Duration';
  const element = kind === 'scalar' ? SCALARS[type] : `${type} | ${kind === 'enum' ? 'str' : 'Mapping[str, Any]'}`;
  if (map) return `Mapping[str, ${element}${isPatch ? ' | None' : ''}]`;
  return repeated ? `Sequence[${element}]` : element;
}

export const optional = (type) => (type === 'Duration' ? type : `${type} | None`);

/** The paragraphs of a comment in lines that begin with `start`. */
export function flowed(comment, start) {
  const lines = comment.split('\n\n').map((paragraph) => {
    const words = paragraph.split(/\s+/);
    return words.reduce((all, word) => {
      const last = all.at(-1);
      if (last !== undefined && start.length + last.length + 1 + word.length <= WIDTH)
        all[all.length - 1] = `${last} ${word}`;
      else all.push(word);
      return all;
    }, []);
  });
  return lines.map((paragraph) => paragraph.map((line) => `${start}${line}\n`).join('')).join(`${start.trimEnd()}\n`);
}

export function docstring(comment) {
  // The quotes take three columns of the first line.
  const text = flowed(`...${comment.replaceAll('\\', '\\\\')}`, '        ')
    .trim()
    .slice(3);
  const isShort = !text.includes('\n') && text.length < WIDTH - 14 && !text.endsWith('"');
  return `        """${text}${isShort ? '' : '\n        '}"""\n`;
}
