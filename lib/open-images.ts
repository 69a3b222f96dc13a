import type { Unzstd } from './archive/unzstd.ts';
import type { Config } from './config/schema.ts';
import { ImageStore } from './images/image-store.ts';
import type { Log } from './log.ts';
import { IMAGE_ETC } from './runtime/bwrap/etc.ts';
import type { Layout } from './sandboxes/host/layout.ts';
import type { SharedThreads } from './threads/thread-pool.ts';

/** Images belong to the server. */
const NO_OWNER = '';

interface Parts {
  layout: Layout;
  archives: { unzstd: SharedThreads<Unzstd> };
}

/** Opens the images on the state that `config` names; removes what interrupted imports have left. */
export function openImages({ storage }: Config, { layout, archives }: Parts, log: Log): Promise<ImageStore> {
  const { maxImageBytes, maxImageFiles, maxImagesBytes } = storage;
  const limits = { maxBytes: maxImageBytes, maxFiles: maxImageFiles, totalBytes: maxImagesBytes };
  return ImageStore.open({
    path: layout.images,
    limits,
    reserve: storage.reserveBytes,
    etc: IMAGE_ETC,
    unzstd: archives.unzstd.of(NO_OWNER),
    log,
  });
}
