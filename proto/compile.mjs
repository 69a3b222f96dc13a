import { join, relative } from 'node:path';
import { PROTO_ROOT, parseProto, protobuf, requireOfLoader } from './source.mjs';

const { FileDescriptorProto } = requireOfLoader('protobufjs/ext/descriptor');

const LABEL = { optional: 1, repeated: 3 };
const TYPES = ['', 'double', 'float', 'int64', 'uint64', 'int32', 'fixed64', 'fixed32', 'bool', 'string', 'group'];
TYPES.push('message', 'bytes', 'uint32', 'enum', 'sfixed32', 'sfixed64', 'sint32', 'sint64');

/**
 * Compiles one .proto file into the source of an ES module. The module exports `json` for proto-loader's fromJSON, and
 * `files`: the serialized FileDescriptorProto of each file that it imports, and of the file, for server reflection. (The
 * descriptors that protobufjs writes itself are invalid for protoc: no proto3_optional, wrong map entry names, no
 * dependencies.)
 */
export function compileProto(path) {
  return `export default ${JSON.stringify({ json: parseProto(path).root.toJSON(), files: describeFiles(path) })};\n`;
}

function describeFiles(path) {
  const { root, package: name, own, imports } = parseProto(path);
  const imported = imports.flatMap((each) =>
    protobuf.common.get(each) ? [describeCommon(root, each)] : describeFiles(join(PROTO_ROOT, each)),
  );
  return [describeFile(root.lookup(name), relative(PROTO_ROOT, path), imports, own), ...imported];
}

function describeCommon(root, name) {
  const google = root.lookup('google.protobuf');
  const types = Object.keys(protobuf.common.get(name).nested.google.nested.protobuf.nested);
  return describeFile(
    google,
    name,
    [],
    google.nestedArray.filter((each) => types.includes(each.name)),
  );
}

/** The plugin for esbuild. */
export const protoPlugin = {
  name: 'proto',
  setup(build) {
    build.onLoad({ filter: /\.proto$/ }, ({ path }) => ({ contents: compileProto(path), loader: 'js' }));
  },
};

function describeFile(namespace, name, dependencies, nested) {
  const services = nested.filter((each) => each instanceof protobuf.Service);
  const descriptor = {
    name,
    package: namespace.fullName.slice(1),
    dependency: dependencies,
    messageType: nested.filter((each) => each instanceof protobuf.Type).map(describeMessage),
    enumType: nested.filter((each) => each instanceof protobuf.Enum).map(describeEnum),
    service: services.map(describeService),
    syntax: 'proto3',
  };
  const encoded = FileDescriptorProto.encode(FileDescriptorProto.fromObject(descriptor)).finish();
  return {
    name,
    dependencies,
    symbols: nested.flatMap(symbolsOf),
    services: services.map((each) => each.fullName.slice(1)),
    descriptor: Buffer.from(encoded).toString('base64'),
  };
}

function symbolsOf(object) {
  const own = object.fullName.slice(1);
  if (object instanceof protobuf.Service) return [own, ...object.methodsArray.map((each) => `${own}.${each.name}`)];
  if (!(object instanceof protobuf.Type)) return [own];
  return [own, ...object.fieldsArray.map((each) => `${own}.${each.name}`), ...object.nestedArray.flatMap(symbolsOf)];
}

function describeMessage(type) {
  // The synthetic oneof of an `optional` field must follow the real ones.
  const oneofs = [...type.oneofsArray].sort((a, b) => Number(isOptional(a)) - Number(isOptional(b)));
  const maps = type.fieldsArray.filter((each) => each.map);
  return {
    name: type.name,
    field: type.fieldsArray.map((each) => describeField(each, oneofs)),
    nestedType: [...type.nestedArray.filter((each) => each instanceof protobuf.Type).map(describeMessage)].concat(
      maps.map(describeMapEntry),
    ),
    enumType: type.nestedArray.filter((each) => each instanceof protobuf.Enum).map(describeEnum),
    oneofDecl: oneofs.map((each) => ({ name: each.name })),
  };
}

function isOptional(oneof) {
  return oneof.fieldsArray.some((each) => each.options?.proto3_optional);
}

function describeField(field, oneofs) {
  return {
    name: field.name,
    jsonName: protobuf.util.camelCase(field.name),
    number: field.id,
    label: field.map || field.repeated ? LABEL.repeated : LABEL.optional,
    ...(field.map ? { type: 11, typeName: `${field.parent.fullName}.${entryName(field)}` } : typeOf(field)),
    ...(field.partOf ? { oneofIndex: oneofs.indexOf(field.partOf) } : {}),
    ...(field.options?.proto3_optional ? { proto3Optional: true } : {}),
  };
}

function typeOf(field) {
  if (!field.resolvedType) return { type: TYPES.indexOf(field.type) };
  const type = field.resolvedType instanceof protobuf.Enum ? 'enum' : 'message';
  return { type: TYPES.indexOf(type), typeName: field.resolvedType.fullName };
}

function entryName(field) {
  return `${protobuf.util.ucFirst(protobuf.util.camelCase(field.name))}Entry`;
}

function describeMapEntry(field) {
  const key = { name: 'key', jsonName: 'key', number: 1, label: LABEL.optional, type: TYPES.indexOf(field.keyType) };
  const value = { name: 'value', jsonName: 'value', number: 2, label: LABEL.optional, ...typeOf(field) };
  return { name: entryName(field), field: [key, value], options: { mapEntry: true } };
}

function describeEnum(type) {
  return { name: type.name, value: Object.entries(type.values).map(([name, number]) => ({ name, number })) };
}

function describeService(service) {
  return {
    name: service.name,
    method: service.methodsArray.map((each) => ({
      name: each.name,
      inputType: each.resolvedRequestType.fullName,
      outputType: each.resolvedResponseType.fullName,
      ...(each.requestStream ? { clientStreaming: true } : {}),
      ...(each.responseStream ? { serverStreaming: true } : {}),
    })),
  };
}
