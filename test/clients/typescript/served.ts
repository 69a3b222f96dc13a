import type { Settings } from '../../../clients/typescript/src/http/call.ts';
import { Paddock } from '../../../clients/typescript/src/index.ts';
import type { StartOptions } from '../../contract/server.ts';
import { serverOfFile } from '../../contract/use-server.ts';

interface Served {
  readonly url: string;
  /** A client of the server. */
  paddock(settings?: Settings): Paddock;
}

/** One server for the tests of a file. Fails if it leaves something behind. */
export function servedOnce(options: StartOptions = {}): Served {
  const served = serverOfFile(options);
  return {
    get url() {
      return served.url;
    },
    paddock: (settings = {}) => new Paddock({ url: served.url, ...settings }),
  };
}
