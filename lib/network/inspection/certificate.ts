import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { bits, boolean, context, integer, objectId, octets, sequence, setOf, text, time } from './der.ts';

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

const SIGNATURE = sequence(objectId(OID.ecdsaWithSha256));
/** The longest common name (RFC 5280, ub-common-name). */
const LONGEST_NAME = 64;

/** A certificate authority with keys on P-256. */
export interface Issuer {
  name: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

/** The certificate of the authority itself, in PEM. */
export function authorityCertificate(issuer: Issuer, from: Date, to: Date): string {
  return certificate(issuer, issuer.name, issuer.publicKey, from, to, [
    extension(OID.basicConstraints, sequence(boolean(true), integer(Buffer.from([0]))), true),
    // keyCertSign and cRLSign.
    extension(OID.keyUsage, bits(Buffer.from([0b0000_0110]), 1), true),
    extension(OID.subjectKeyIdentifier, octets(keyIdentifier(issuer.publicKey))),
  ]);
}

/** The certificate of a server of this name, in PEM. */
export function serverCertificate(issuer: Issuer, host: string, publicKey: KeyObject, from: Date, to: Date): string {
  const isShort = host.length <= LONGEST_NAME;
  return certificate(issuer, isShort ? host : '', publicKey, from, to, [
    extension(OID.basicConstraints, sequence(), true),
    // digitalSignature.
    extension(OID.keyUsage, bits(Buffer.from([0b1000_0000]), 7), true),
    extension(OID.extendedKeyUsage, sequence(objectId(OID.serverAuth))),
    extension(OID.subjectAltName, sequence(context(2, Buffer.from(host, 'latin1'), false)), !isShort),
    extension(OID.subjectKeyIdentifier, octets(keyIdentifier(publicKey))),
    extension(OID.authorityKeyIdentifier, sequence(context(0, keyIdentifier(issuer.publicKey), false))),
  ]);
}

function certificate(
  issuer: Issuer,
  subject: string,
  publicKey: KeyObject,
  from: Date,
  to: Date,
  extensions: readonly Buffer[],
): string {
  const serial = randomBytes(16);
  serial[0]! = (serial[0]! & 0x7f) | 0x40;
  const signed = sequence(
    context(0, integer(Buffer.from([2])), true),
    integer(serial),
    SIGNATURE,
    nameOf(issuer.name),
    sequence(time(from), time(to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    context(3, sequence(...extensions), true),
  );
  const whole = sequence(signed, SIGNATURE, bits(sign('sha256', signed, issuer.privateKey)));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), octets(value));
}

function nameOf(commonName: string): Buffer {
  if (commonName === '') return sequence();
  return sequence(setOf(sequence(objectId(OID.commonName), text(commonName))));
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
}
