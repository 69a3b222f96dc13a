import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeEtc } from '../../../../lib/runtime/bwrap/etc.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-etc-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it.each(['an absolute', 'a dangling', 'a relative'])(
  'writes authorities to no file of the host behind %s link',
  (kind) => {
    const [host, source, dir] = [join(folder, 'host'), join(folder, 'etc'), join(folder, 'new')];
    mkdirSync(join(host, 'certs'), { recursive: true });
    writeFileSync(join(host, 'certs/ca-certificates.crt'), "the host's");
    mkdirSync(join(source, 'ssl'), { recursive: true });
    mkdirSync(join(source, 'pki/tls/certs'), { recursive: true });
    const targets = {
      'an absolute': join(host, 'certs'),
      'a dangling': '../../nowhere',
      'a relative': '../pki/tls/certs',
    };
    symlinkSync(targets[kind as keyof typeof targets], join(source, 'ssl/certs'));
    writeEtc(dir, { source, authorities: 'ours' });
    expect(readFileSync(join(host, 'certs/ca-certificates.crt'), 'utf8')).toBe("the host's");
    expect(readdirSync(join(host, 'certs'))).toHaveLength(1);
    expect(readFileSync(join(dir, 'ssl/certs/ca-certificates.crt'), 'utf8')).toBe('ours');
    expect(lstatSync(join(dir, 'ssl/certs')).isSymbolicLink()).toBe(kind === 'a relative');
  },
);
