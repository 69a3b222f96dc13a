import { protobuf } from './source.mjs';

/**
 * Returns the definitions of parsed .proto files as plain data, in the order of the files. Throws for a definition
 * without a comment, because the comments are the documentation of every client.
 */
export function contractOf(parsed) {
  const nested = parsed.flatMap(({ own }) => own);
  return {
    enums: nested.filter((each) => each instanceof protobuf.Enum).map(enumOf),
    messages: nested.filter((each) => each instanceof protobuf.Type).map(messageOf),
    services: nested.filter((each) => each instanceof protobuf.Service).map(serviceOf),
    rpcs: nested.filter((each) => each instanceof protobuf.Service).flatMap(rpcsOf),
  };
}

function commentOf(definition, comment = definition.comment) {
  if (comment) return comment;
  throw new Error(`${definition.fullName ?? definition} has no comment`);
}

function enumOf(type) {
  const values = Object.entries(type.values).map(([name, number], index) => {
    // Request parsing uses an enum's number as an index.
    if (number !== index) throw new Error(`${type.name}.${name} must have the number ${index}`);
    return { name, number, comment: commentOf(`${type.name}.${name}`, type.comments[name]) };
  });
  return { name: type.name, comment: commentOf(type), values };
}

// https://docs.python.org/3/reference/lexical_analysis.html#keywords
const PYTHON_KEYWORDS = new Set(
  `and as assert async await break class continue def del elif else except finally for from global if import in is lambda
  nonlocal not or pass raise return try while with yield`.split(/\s+/),
);
/** The field that stands for one whose name is reserved in Python, in the same message, with its number. */
const TWINS = { as: ['view', 30], from: ['source', 31] };

/** The name of the field that stands for another one; undefined: none. */
const twinOf = (name) => (Object.hasOwn(TWINS, name) ? TWINS[name][0] : undefined);

/** Python cannot name a field that is a keyword as an attribute or an argument. */
function requireTwins(type) {
  for (const { name } of type.fieldsArray.filter((each) => PYTHON_KEYWORDS.has(each.name))) {
    const [twin, number] = TWINS[name] ?? [];
    if (twin !== undefined && type.fields[twin]?.id === number && type.fields[twin].type === type.fields[name].type)
      continue;
    const advice = twin ? `it needs a field ${twin} = ${number} of its type` : 'choose another name';
    throw new Error(`${type.name}.${name} is a keyword of Python: ${advice}`);
  }
}

function messageOf(type) {
  requireTwins(type);
  return { name: type.name, comment: commentOf(type), fields: type.fieldsArray.map((field) => fieldOf(field, type)) };
}

function fieldOf(field, type) {
  return {
    name: field.name,
    number: field.id,
    comment: commentOf(field),
    type: field.resolvedType?.name ?? field.type,
    kind: kindOf(field.resolvedType),
    repeated: field.repeated,
    map: Boolean(field.map),
    optional: Boolean(field.options?.proto3_optional),
    twin: twinOf(field.name),
    isTwin: type.fieldsArray.some(({ name }) => twinOf(name) === field.name),
  };
}

function kindOf(resolved) {
  if (resolved instanceof protobuf.Enum) return 'enum';
  return resolved ? 'message' : 'scalar';
}

function serviceOf(service) {
  return { name: service.name, comment: commentOf(service) };
}

function rpcsOf(service) {
  return service.methodsArray.map((method) => ({
    service: service.name,
    name: method.name,
    comment: commentOf(method),
    request: method.resolvedRequestType.name,
    response: method.resolvedResponseType.name,
    requestStream: Boolean(method.requestStream),
    responseStream: Boolean(method.responseStream),
  }));
}
