/** The version in package.json. Defined by the build and by vitest. */
declare const PADDOCK_VERSION: string;
/** The documentation of the REST interface, packed by proto/openapi/pack.mjs. Defined by the build only. */
declare const PADDOCK_DOCUMENTS: string;
/** The scripts of the worker threads by role, as base64 compressed with brotli. Defined by the build only. */
declare const PADDOCK_THREADS: Readonly<Record<string, string>>;
