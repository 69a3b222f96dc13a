// Constraints of request fields (handlers/input/constraints.ts) as keywords of JSON Schema, and as sentences where it has
// no keyword.

/** Keywords for a string. An empty string is the field's default. */
export function stringKeywords({ required, values, minLength, maxLength, pattern, format, maxBytes }) {
  const empty = !required && !minLength;
  return {
    ...(values && { enum: empty ? [...values, ''] : [...values] }),
    ...(!empty && !values && { minLength: 1 }),
    ...(maxLength !== undefined && { maxLength }),
    ...(pattern && { pattern: `^(?:${pattern.source})${empty ? '?' : ''}$` }),
    ...(format && { format }),
    ...(maxBytes !== undefined && { 'x-max-bytes': maxBytes }),
  };
}

/** Keywords for an integer of a type. */
export function integerKeywords(type, { minimum, maximum, orZero, unit, default: standsFor }) {
  const lowest = minimum ?? (type === 'uint32' ? 0 : undefined);
  const range = { ...(lowest !== undefined && { minimum: lowest }), ...(maximum !== undefined && { maximum }) };
  return {
    ...(orZero ? { anyOf: [{ const: 0 }, range] } : range),
    ...(standsFor !== undefined && { default: standsFor }),
    ...(unit && { 'x-unit': unit }),
  };
}

export function listKeywords({ required, maxItems, maxBytes }) {
  return {
    ...(required && { minItems: 1 }),
    ...(maxItems !== undefined && { maxItems }),
    ...(maxBytes !== undefined && { 'x-max-bytes': maxBytes }),
  };
}

export function mapKeywords({ maxItems, maxBytes, maxEntryBytes, keys }) {
  const ofKeys = keys ? stringKeywords(keys) : {};
  return {
    ...(maxItems !== undefined && { maxProperties: maxItems }),
    ...(Object.keys(ofKeys).length > 0 && { propertyNames: ofKeys }),
    ...(maxBytes !== undefined && { 'x-max-bytes': maxBytes }),
    ...(maxEntryBytes !== undefined && { 'x-max-entry-bytes': maxEntryBytes }),
  };
}

/** What the keywords do not say, as sentences. */
export function sentencesOf({ requiredWithout, excludes, pattern, items, keys, maxEntryBytes, maxBytes, ...rest }) {
  const inAll = items || rest.maxItems !== undefined ? ' in all' : '';
  return [
    requiredWithout && `Required if \`${requiredWithout}\` is empty.`,
    excludes && `Must be empty with \`${excludes}\`.`,
    pattern && `It ${pattern.problem}.`,
    keys?.pattern && `A key ${keys.pattern.problem}.`,
    items?.pattern && `${keys ? 'A value' : 'Each'} ${items.pattern.problem}.`,
    items?.maxBytes !== undefined && `Each has at most ${count(items.maxBytes)} bytes.`,
    maxEntryBytes !== undefined && `An entry has at most ${count(maxEntryBytes)} bytes with its name.`,
    maxBytes !== undefined && `At most ${count(maxBytes)} bytes${inAll}.`,
  ].filter((each) => typeof each === 'string');
}

const count = (number) => number.toLocaleString('en-US');
