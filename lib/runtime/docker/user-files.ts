import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GIT_INCLUDE } from '../executor/programs.ts';
import { HOME } from '../sandbox-environment.ts';
import type { Daemon } from './daemon.ts';
import { daemonStatus } from './errors.ts';

/** Files of the image's /etc that a sandbox sees with added lines, so that its host uid has a user name. */
export const USER_FILES = ['passwd', 'group', 'gitconfig'] as const;
type UserFile = (typeof USER_FILES)[number];
export type ImageFiles = Readonly<Record<UserFile, string>>;

const MAX_BYTES = 1024 * 1024;
const MAX_IMAGES = 64;

/** The first matching line counts, so ours comes before the image's. */
export function withUser(files: ImageFiles, uid: number): ImageFiles {
  return {
    passwd: `sandbox:x:${uid}:${uid}:sandbox:${HOME}:/bin/sh\n${files.passwd}`,
    group: `sandbox:x:${uid}:\n${files.group}`,
    // Read-only directories appear to be owned by another uid, and git refuses repositories of other owners by default.
    gitconfig: `${GIT_INCLUDE}${files.gitconfig}\n[safe]\n\tdirectory = *\n`,
  };
}

const NOTHING: ImageFiles = { passwd: '', group: '', gitconfig: '' };

/** Creates the files as mount targets; their content is written before the container starts. */
export function writeUserFiles(directory: string, files: ImageFiles = NOTHING): void {
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  for (const name of USER_FILES) writeFileSync(join(directory, name), files[name], { mode: 0o644 });
}

/** The images' versions of these files, read once per image from a container that has not been started. */
export class ImageUserFiles {
  readonly #daemon: Daemon;
  readonly #known = new Map<string, ImageFiles>();
  /** By image id. The daemon mounts a container for each file that it reads: many launches wait for one of them. */
  readonly #reading = new Map<string, Promise<ImageFiles>>();

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
  }

  /**
   * The user files of an image, read from a container of it and kept by image id. `limitMs`: per call of the daemon.
   */
  async read(imageId: string, containerId: string, limitMs: number): Promise<ImageFiles> {
    // Without a wait if nobody reads them: the next launch must find this one's reading.
    const begun = this.#reading.get(imageId);
    const known = this.#known.get(imageId) ?? (begun && (await begun.catch(() => undefined)));
    if (known) return known;
    const reading = this.#readAll(containerId, limitMs);
    this.#reading.set(imageId, reading);
    try {
      const files = await reading;
      if (this.#known.size >= MAX_IMAGES) this.#known.clear();
      this.#known.set(imageId, files);
      return files;
    } finally {
      if (this.#reading.get(imageId) === reading) this.#reading.delete(imageId);
    }
  }

  async #readAll(containerId: string, limitMs: number): Promise<ImageFiles> {
    const [passwd, group, gitconfig] = (await Promise.all(
      USER_FILES.map((name) => this.#file(containerId, `/etc/${name}`, limitMs)),
    )) as [string, string, string];
    return { passwd, group, gitconfig };
  }

  async #file(containerId: string, path: string, limitMs: number): Promise<string> {
    try {
      return await this.#daemon.call({
        doing: 'reading an image',
        limitMs,
        ask: async (docker, abortSignal) => {
          const container = docker.getContainer(containerId);
          return regularFile(await container.getArchive({ path, abortSignal } as { path: string }));
        },
      });
    } catch (error) {
      // A container that is gone, with its launch, says nothing about the image.
      if (daemonStatus(error) === 404 && !/no such container/i.test((error as Error).message)) return '';
      throw error;
    }
  }
}

const BLOCK = 512;

/** The content of the archive's only file; '' for a link, a directory, or an unexpectedly large file. */
async function regularFile(archive: NodeJS.ReadableStream): Promise<string> {
  let size = 0;
  const parts: Buffer[] = [];
  for await (const part of archive as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BYTES) return '';
    parts.push(part);
  }
  return tarFile(Buffer.concat(parts));
}

/** https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html, "ustar Interchange Format". */
export function tarFile(archive: Buffer): string {
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8);
    const type = String.fromCharCode(archive[at + 156] ?? 0);
    if (!Number.isSafeInteger(size) || size < 0) return '';
    const end = at + BLOCK + size;
    if (type === '0' || type === '\0')
      return end <= archive.length ? withNewline(archive.toString('utf8', at + BLOCK, end)) : '';
    // Extended headers precede the file they describe.
    if (type !== 'x' && type !== 'g') return '';
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return '';
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
