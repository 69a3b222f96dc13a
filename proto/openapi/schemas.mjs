import { integerKeywords, listKeywords, mapKeywords, sentencesOf, stringKeywords } from './constraints.mjs';
import { textOf, withSentences } from './text.mjs';

const SCALARS = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  bytes: { type: 'string', contentEncoding: 'base64' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  uint32: { type: 'integer', format: 'uint32' },
};

const refTo = (name) => ({ $ref: `#/components/schemas/${name}` });

/** The schemas of a document: those that operations refer to, by name. */
export class Schemas {
  /** @type {Record<string, object>} */
  components = {};
  #messages;
  #enums;

  constructor({ messages, enums }) {
    this.#messages = new Map(messages.map((each) => [each.name, each]));
    this.#enums = new Map(enums.map((each) => [each.name, each]));
  }

  /** The fields of a message. */
  fieldsOf(name) {
    const message = this.#messages.get(name);
    if (message === undefined) throw new Error(`there is no message ${name}`);
    return message.fields;
  }

  descriptionOf(name) {
    return textOf(this.#messages.get(name).comment);
  }

  /** Adds a schema of any form. Throws for another one of the same name. */
  add(name, schema) {
    const known = this.components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`there are two schemas ${name}`);
    this.components[name] = schema;
    return refTo(name);
  }

  /**
   * A message as part of an answer. The server sends every field that may not be absent. Clients must accept further
   * ones, so that the schema permits them.
   */
  answer(name) {
    if (name === 'Empty') return this.add('Empty', { type: 'object', description: 'Nothing.', properties: {} });
    if (Object.hasOwn(this.components, name)) return refTo(name);
    const fields = this.fieldsOf(name).filter(({ isTwin }) => !isTwin);
    // Known before its fields are read, which may refer to it.
    this.components[name] = {};
    const required = fields.filter((field) => !mayBeAbsent(field)).map((field) => field.name);
    this.components[name] = {
      type: 'object',
      description: this.descriptionOf(name),
      properties: Object.fromEntries(fields.map((field) => [field.name, this.#answerField(field)])),
      ...(required.length > 0 && { required }),
    };
    return refTo(name);
  }

  #answerField(field) {
    const description = textOf(field.comment);
    const element = field.kind === 'message' ? this.answer(field.type) : this.#plain(field);
    if (field.map) return { description, type: 'object', additionalProperties: element };
    if (field.repeated) return { description, type: 'array', items: element };
    return { description, ...element };
  }

  #plain({ type, kind }) {
    if (kind !== 'enum') return SCALARS[type];
    const { comment, values } = this.#enums.get(type);
    const lines = values.map((value) => `- \`${value.name}\`: ${textOf(value.comment)}`);
    return this.add(type, {
      type: 'string',
      description: `${textOf(comment)}\n\n${lines.join('\n')}`,
      enum: values.map(({ name }) => name),
    });
  }

  /** An object of a request with some fields of a message. Other fields are refused. */
  input(fields, constraints = {}, description = '') {
    const required = fields.filter(({ name }) => constraints[name]?.required).map(({ name }) => name);
    return {
      type: 'object',
      ...(description && { description }),
      properties: Object.fromEntries(fields.map((field) => [field.name, this.inputField(field, constraints)])),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    };
  }

  /** One field of a request, with its description. A twin has the constraints of its field. */
  inputField(field, constraints = {}) {
    const constraint = constraints[field.name] ?? (field.isTwin ? constraints[TWIN_OF[field.name]] : undefined) ?? {};
    const description = withSentences(textOf(field.comment), sentencesOf(constraint));
    return { description, ...this.#inputOf(field, constraint) };
  }

  #inputOf(field, constraint) {
    if (field.map) {
      const values = { type: 'string', ...stringKeywords(constraint.items ?? {}) };
      return { type: 'object', additionalProperties: values, ...mapKeywords(constraint) };
    }
    if (!field.repeated) return this.#inputElement(field, constraint);
    const items = this.#inputElement(field, constraint.items ?? {});
    return { type: 'array', items, ...listKeywords(constraint) };
  }

  #inputElement(field, constraint) {
    if (field.kind === 'enum') return this.#plain(field);
    if (field.kind === 'message') return this.#inputMessage(field.type, constraint.fields);
    const scalar = SCALARS[field.type];
    if (field.type === 'string') return { ...scalar, ...stringKeywords(constraint) };
    return scalar.type === 'integer' ? { ...scalar, ...integerKeywords(field.type, constraint) } : scalar;
  }

  /** In requests every field may be absent, unlike in answers. */
  #inputMessage(name, constraints) {
    return this.add(`${name}Input`, this.input(this.fieldsOf(name), constraints, this.descriptionOf(name)));
  }
}

const TWIN_OF = { view: 'as', source: 'from' };

function mayBeAbsent({ kind, repeated, map, optional }) {
  return optional || (kind === 'message' && !repeated && !map);
}
