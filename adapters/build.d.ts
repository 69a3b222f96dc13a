/** The version in package.json. Defined by the build and by vitest. */
declare const PADDOCK_VERSION: string;
