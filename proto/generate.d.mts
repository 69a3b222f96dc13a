/** The files generated from the .proto files, by path. Throws when a definition that is released would change. */
export function generate(): Record<string, string>;
/** The files that need the table of operations, by path: the document of OpenAPI, and the contract of the client. */
export function generateFromTable(): Promise<Record<string, string>>;
/** The paths of generated files whose contents on disk differ. */
export function outdated(files?: Record<string, string>): string[];
/** Reads the definitions of .proto files. Throws for one without a comment, and for a name that clients cannot use. */
export function readContract(paths: readonly string[]): object;
