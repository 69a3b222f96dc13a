import { protobuf } from './source.mjs';

/**
 * Returns the definitions of parsed .proto files as plain data, in the order of the files. Throws for a definition
 * without a comment, because the comments are the documentation of every client.
 */
export function contractOf(parsed) {
  const nested = parsed.flatMap(({ root, package: name }) => root.lookup(name).nestedArray);
  return {
    enums: nested.filter((each) => each instanceof protobuf.Enum).map(enumOf),
    messages: nested.filter((each) => each instanceof protobuf.Type).map(messageOf),
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

function messageOf(type) {
  return { name: type.name, comment: commentOf(type), fields: type.fieldsArray.map(fieldOf) };
}

function fieldOf(field) {
  return {
    name: field.name,
    number: field.id,
    comment: commentOf(field),
    type: field.resolvedType?.name ?? field.type,
    kind: kindOf(field.resolvedType),
    repeated: field.repeated,
    map: Boolean(field.map),
    optional: Boolean(field.options?.proto3_optional),
  };
}

function kindOf(resolved) {
  if (resolved instanceof protobuf.Enum) return 'enum';
  return resolved ? 'message' : 'scalar';
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
