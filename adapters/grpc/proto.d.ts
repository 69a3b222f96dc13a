/** What proto/compile.mjs makes of a .proto file, at build time. */
declare module '*.proto' {
  interface ProtoFile {
    name: string;
    dependencies: string[];
    /** Full names of everything the file defines. */
    symbols: string[];
    services: string[];
    /** The serialized FileDescriptorProto, base64. */
    descriptor: string;
  }
  const proto: { json: object; files: ProtoFile[] };
  export default proto;
}
