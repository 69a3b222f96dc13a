import { execFile } from 'node:child_process';
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../linux/errno.ts';

const KEY_BYTES = 32;
const COMMAND_TIMEOUT_MS = 10_000;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** The key cannot be had; the message is a clause that names its source. */
export class NoKeyError extends Error {}

export interface SecretKeyOptions {
  /** The file with the key. */
  file: string;
  /** A program with its arguments that prints the key; empty: the file is used. */
  command: readonly string[];
}

/** The key that encrypts the values of secrets. It is read at its first use, and then kept. */
export class SecretKey {
  readonly #options: SecretKeyOptions;
  #key: Promise<KeyObject> | undefined;

  constructor(options: SecretKeyOptions) {
    this.#options = options;
  }

  /** `make`: create the file if there is none. Throws NoKeyError; a later call tries again. */
  async get(make: boolean): Promise<KeyObject> {
    const { file, command } = this.#options;
    const [program, ...args] = command;
    this.#key ??= program === undefined ? fromFile(file, make) : fromCommand(program, args);
    const pending = this.#key;
    try {
      return await pending;
    } catch (error) {
      if (this.#key === pending) this.#key = undefined;
      // Another call may have asked not to make the file.
      if (make && error instanceof MissingError) return this.get(make);
      throw error;
    }
  }
}

class MissingError extends NoKeyError {}

async function fromFile(path: string, make: boolean): Promise<KeyObject> {
  try {
    return await readKey(path);
  } catch (error) {
    if (!make || !(error instanceof MissingError)) throw error;
    await makeKey(path);
    return readKey(path);
  }
}

async function readKey(path: string): Promise<KeyObject> {
  let file: FileHandle;
  try {
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') throw new MissingError(`the key file ${path} does not exist`);
    throw new NoKeyError(`the key file ${path} cannot be read: ${code}`);
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new NoKeyError(`the key file ${path} is not a file`);
    if ((stat.mode & 0o077) !== 0) {
      throw new NoKeyError(`the key file ${path} can be used by others: it must have mode 0600`);
    }
    if (stat.size !== KEY_BYTES) throw new NoKeyError(`the key file ${path} must have ${KEY_BYTES} bytes`);
    return createSecretKey(await file.readFile());
  } finally {
    await file.close();
  }
}

/** Durable when it resolves. Under its name the file is always complete; one that exists meanwhile stays. */
async function makeKey(path: string): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    await rm(temporary, { force: true });
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      await file.writeFile(randomBytes(KEY_BYTES));
      await file.sync();
    } finally {
      await file.close();
    }
    await link(temporary, path);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EEXIST') throw new NoKeyError(`the key file ${path} cannot be made: ${code}`);
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
  const directory = await open(dirname(path), O_RDONLY);
  await directory.sync().finally(() => directory.close());
}

/** The output is 32 bytes, or these in hexadecimal or Base64 on one line. No message shows any of it. */
async function fromCommand(program: string, args: readonly string[]): Promise<KeyObject> {
  const output = await new Promise<Buffer>((resolve, reject) => {
    const options = { encoding: 'buffer', timeout: COMMAND_TIMEOUT_MS, maxBuffer: 4096, cwd: '/' } as const;
    execFile(program, args, options, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new NoKeyError(`secrets.key_command: ${program} ${endOf(error)}`));
    });
  });
  const key = decoded(output);
  if (key === undefined) {
    throw new NoKeyError(
      `secrets.key_command: ${program} must print ${KEY_BYTES} bytes, in hexadecimal, Base64 or as they are`,
    );
  }
  return createSecretKey(key);
}

function endOf({ code, killed, signal }: { code?: unknown; killed?: boolean; signal?: unknown }): string {
  if (killed) return 'did not end within 10 seconds, or printed too much';
  if (typeof code === 'number') return `failed with status ${code}`;
  return `failed: ${String(code ?? signal)}`;
}

function decoded(output: Buffer): Buffer | undefined {
  if (output.length === KEY_BYTES) return output;
  const text = output.toString('latin1').trim();
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  return undefined;
}
