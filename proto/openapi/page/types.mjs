// Types and constraints of schemas, in words.
import { html } from './html.mjs';

const count = (number) => number.toLocaleString('en-US');

/** The type of a value, with links to the schemas that it names. */
export function typeOf(schema) {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf && schema.type === undefined)
    return schema.anyOf.map((each, index) => html`${index > 0 && ' or '}${typeOf(each)}`);
  if (schema.type === 'array') return html`list of ${typeOf(schema.items)}`;
  const values = schema.additionalProperties;
  const types = [schema.type ?? 'bytes'].flat();
  const words = types.map((type) => (type === 'object' && values ? 'map' : type)).join(' or ');
  if (types.includes('object') && values) return html`${words} of ${typeOf(values)}`;
  if (schema.contentEncoding) return schema.contentEncoding;
  return schema.format && schema.type === 'integer' ? schema.format : words;
}

/** The constraints of a value, each in a few words. */
export function limitsOf(schema) {
  const { minimum, maximum } = schema;
  const ranges = (schema.type === 'integer' && schema.anyOf) || [];
  const range = ranges.find((each) => 'maximum' in each || 'minimum' in each);
  return [
    schema.enum && html`one of ${listOf(schema.enum)}`,
    range && `0 or ${rangeOf(range)}`,
    rangeOf({ minimum, maximum }),
    schema.default !== undefined && `default ${schema.default}`,
    schema.maxLength !== undefined && `at most ${count(schema.maxLength)} characters`,
    schema.maxItems !== undefined && `at most ${count(schema.maxItems)} entries`,
    schema.maxProperties !== undefined && `at most ${count(schema.maxProperties)} entries`,
    schema.pattern && !/\\0|Surrogate/.test(schema.pattern) && html`<code class="pattern">${schema.pattern}</code>`,
  ].filter(Boolean);
}

function rangeOf({ minimum, maximum }) {
  if (maximum === undefined) return minimum !== undefined && `at least ${count(minimum)}`;
  return minimum === undefined ? `at most ${count(maximum)}` : `${count(minimum)} to ${count(maximum)}`;
}

const listOf = (values) =>
  values.map((value, index) => {
    const shown = value === '' ? 'empty' : html`<code>${String(value)}</code>`;
    return html`${index > 0 && ', '}${shown}`;
  });
