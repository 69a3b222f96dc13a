// The clients convert values without a schema, by the names of their fields.
import { requestTypes } from './render-messages.mjs';

/** What all values of an enum begin with: up to their only "_". */
export const prefixOf = ({ name, values }) => {
  const prefixes = new Set(values.map((value) => value.name.slice(0, value.name.indexOf('_') + 1)));
  if (prefixes.size > 1) throw new Error(`the values of ${name} must have one prefix, up to their first "_"`);
  return [...prefixes][0];
};

/** The words of the client for the names of all values of enums. */
export function wordsOf(enums) {
  const words = enums.flatMap((each) => {
    const { length } = prefixOf(each);
    return each.values.map(({ name }) => [name, name.slice(length).toLowerCase()]);
  });
  return Object.fromEntries(words);
}

/** In the comment of a time: it may be 0, which is none. */
const NONE = /\b0(?=: | while )/;

export const isTime = ({ name, type }) => type === 'int64' && name.endsWith('_at');
export const isOptionalTime = (field) => isTime(field) && NONE.test(field.comment);
export const commentOf = (field) => (isTime(field) ? field.comment.replace(NONE, 'absent') : field.comment);

/** Fields that are lengths of time, by how many of their units are a second. A name means the same in all messages. */
export function durationsOf({ messages }) {
  const found = new Map();
  for (const { type, name, comment } of messages.flatMap(({ fields }) => fields)) {
    const [, , unit] = /(^|\. )(Seconds|Milliseconds) /.exec(comment) ?? [];
    if (type !== 'int64' || unit === undefined) continue;
    const scale = unit === 'Seconds' ? 1 : 1000;
    if ((found.get(name) ?? scale) !== scale) throw new Error(`${name} must have one unit in all messages`);
    found.set(name, scale);
  }
  return found;
}

/** Forms that fields of one name may have together, and the one that converts both. */
const TOGETHER = { 'enum,plain': 'enum', 'time,time?': 'time?' };

/** The form of each field whose value is converted, by name. */
export function formsOf({ messages, rpcs }) {
  const requests = new Set(rpcs.map(({ request }) => request));
  return byName(messages, (field, of) => formOf(field, requests.has(of)), TOGETHER);
}

/** The field of an answer that is a list and nothing else. */
export function listedOf(response) {
  const fields = response?.fields.filter(({ name }) => name !== 'next_page_token') ?? [];
  const isList = /^List/.test(response?.name) && fields.length === 1 && fields[0].repeated;
  return isList ? fields[0] : undefined;
}

/** The prefix of the values of each enum in a request, by the name of the field. */
export function prefixesOf({ enums, messages, rpcs }) {
  const sent = requestTypes(messages, rpcs);
  const ofEnum = ({ type }) => prefixOf(enums.find(({ name }) => name === type));
  return byName(
    messages.filter(({ name }) => sent.has(name)),
    (field) => (field.kind === 'enum' ? ofEnum(field) : 'plain'),
  );
}

function formOf(field, isRequest) {
  if (field.map) return 'map';
  if (isTime(field)) return isOptionalTime(field) ? 'time?' : 'time';
  if (field.kind === 'enum') return 'enum';
  return field.type === 'bytes' && !isRequest ? 'bytes' : 'plain';
}

/** Values of the fields by name, but "plain" ones. Throws if those of one name differ. */
function byName(messages, formIn, together = {}) {
  const found = new Map();
  for (const { name: of, fields } of messages) {
    for (const field of fields) found.set(field.name, (found.get(field.name) ?? new Set()).add(formIn(field, of)));
  }
  const values = [...found].map(([name, set]) => {
    const value = set.size === 1 ? [...set][0] : together[[...set].sort()];
    if (value === undefined) throw new Error(`fields named ${name} must be of one form, not ${[...set].join(' and ')}`);
    return [name, value];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== 'plain'));
}

/** Forms of fields by their type, where that is not "string", or no range. */
const BY_TYPE = { bool: 'boolean', bytes: 'bytes', int32: 'integer', int64: 'integer', uint32: 'integer' };

/**
 * What a client checks of a field before it sends it (see its module of forms). An explicit 0 is refused where it only stands
 * for what is left out.
 */
function checkOf(field, { minimum, maximum, note, values }, durations) {
  if (field.map) return 'map';
  if (field.kind === 'message') return field.repeated ? 'objects' : 'object';
  if (field.kind === 'enum' || durations.has(field.name)) return 'converted';
  if (field.repeated) return 'strings';
  if (values) return `one ${values.join('|')}`;
  const form = BY_TYPE[field.type] ?? 'string';
  if (form !== 'integer' || minimum === undefined) return form;
  const highest = maximum === undefined ? '' : ` ${maximum}${note === undefined ? '' : ` ${note}`}`;
  return `integer ${minimum}${highest}`;
}

/** Fields that are sent under the name of another one, by their type. */
const UNITED = { command: ['argv', 'command'], stdin: ['stdin_bytes', 'text'] };

function unitedCheck({ name }, fields) {
  const [other, check] = UNITED[name] ?? [];
  return fields.some((each) => each.name === other) ? check : undefined;
}

/**
 * The checks of all fields of requests: by name, and by "operation.name" those that differ. `fieldsIn`: of each operation,
 * with its constraints.
 */
export function checksOf(fieldsIn, durations) {
  const all = fieldsIn.flatMap(({ operation, fields, constraints }) =>
    fields.map((field) => ({
      at: `${operation}.${field.name}`,
      name: field.name,
      check: unitedCheck(field, fields) ?? checkOf(field, constraints[field.name] ?? {}, durations),
    })),
  );
  const found = new Map();
  for (const { at, name, check } of all) {
    if (!found.has(name)) found.set(name, check);
    else if (found.get(name) !== check) found.set(at, check);
  }
  return Object.fromEntries([...found].filter(([at, check]) => check !== 'string' || at.includes('.')));
}

/** Whether the service refuses a request without it. */
const isNeeded = ({ required, format, minimum, orZero, default: standsFor }) =>
  required || format === 'file-path' || (minimum > 0 && !orZero && standsFor === undefined);

/** The fields of a request as clients give them: "name!" must not be empty, "name!other" unless there is the other one. */
export const namesOf = (fields, required, constraints, nameOf = (/** @type {any} */ { name }) => name) =>
  fields
    .map((field) => {
      const { requiredWithout: other, ...constraint } = constraints[field.name] ?? {};
      const without = fields.some(({ name }) => name === other) ? other : '';
      return `${nameOf(field)}${without || isNeeded(constraint) || required.includes(field.name) ? `!${without}` : ''}`;
    })
    .join(' ');
