/** Output of proto/compile.mjs for a .proto file, at build time. */
declare module '*.proto' {
  interface ProtoFile {
    name: string;
    dependencies: string[];
    /** Full names of all definitions in the file. */
    symbols: string[];
    services: string[];
    /** The serialized FileDescriptorProto, base64. */
    descriptor: string;
  }
  const proto: { json: object; files: ProtoFile[] };
  export default proto;
}
