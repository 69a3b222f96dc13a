/** Writes the server as one file; resolves with its path. */
export function bundle(options?: { entry?: string; outfile?: string }): Promise<string>;
/** Writes the command line as one file; resolves with its path. */
export function bundleCli(): Promise<string>;
