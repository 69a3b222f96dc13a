/** The version in package.json, put in by the build (and by vitest). */
declare const PADDOCK_VERSION: string;
