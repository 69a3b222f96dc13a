import { Metadata, type StatusObject } from '@grpc/grpc-js';
import { hideKeys } from '../../lib/access/key-format.ts';
import { CODES, type ServiceError } from '../../lib/errors.ts';
import { isRetryInfo, type RetryInfo } from '../../lib/limits/refusal.ts';
import { LongText } from '../../lib/long-text.ts';
import { isResourceInfo, type ResourceInfo } from '../../lib/not-found.ts';
import { serialize } from './protos.ts';

/**
 * Clients commonly accept 8 KiB of trailers in all (the default of gRPC), so the details stay well below that, in
 * base64 too. Of a longer text the end is sent: it shows the last output of a command that timed out.
 */
const MAX_TEXT_BYTES = 1536;
const MAX_DETAILS_BYTES = 5 * 1024;
const MAX_MESSAGE_CHARS = 1000;

/** The status of a failed call: code and message as in REST; the details as google.rpc.Status with RetryInfo, ResourceInfo or Structs. */
export function statusOf(error: ServiceError): StatusObject {
  const code = CODES[error.code].grpc;
  const details = shorten(hideKeys(error.message));
  const metadata = new Metadata();
  if (error.details.length > 0) {
    const bytes = serialize('google.rpc.Status', { code, message: details, details: error.details.map(toAny) });
    if (bytes.length <= MAX_DETAILS_BYTES) metadata.set('grpc-status-details-bin', bytes);
  }
  return { code, details, metadata };
}

/**
 * Shortened to well-formed Unicode, because the message is sent percent-encoded and encodeURI throws on an unpaired
 * surrogate.
 */
function shorten(message: string): string {
  const cut = message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS)}…` : message;
  return (cut as string & { toWellFormed(): string }).toWellFormed();
}

function toAny(detail: unknown): object {
  if (isRetryInfo(detail)) return retryInfo(detail);
  if (isResourceInfo(detail)) return resourceInfo(detail);
  const fields = (toValue(detail) as { structValue?: object }).structValue ?? { fields: { value: toValue(detail) } };
  return {
    type_url: 'type.googleapis.com/google.protobuf.Struct',
    value: serialize('google.protobuf.Struct', fields),
  };
}

function resourceInfo({ '@type': type_url, resourceType, resourceName }: ResourceInfo): object {
  const info = { resource_type: resourceType, resource_name: resourceName };
  return { type_url, value: serialize('google.rpc.ResourceInfo', info) };
}

function retryInfo({ '@type': type_url, retryDelay }: RetryInfo): object {
  const ms = Math.round(Number.parseFloat(retryDelay) * 1000);
  const retry_delay = { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1_000_000 };
  return { type_url, value: serialize('google.rpc.RetryInfo', { retry_delay }) };
}

/** A plain JSON value as google.protobuf.Value. */
function toValue(json: unknown): object {
  // More than `endOf` leaves, so that it reports the cut.
  if (json instanceof LongText) return { stringValue: endOf(json.ending(2 * MAX_TEXT_BYTES)) };
  if (typeof json === 'string') return { stringValue: endOf(json) };
  if (typeof json === 'number') return { numberValue: json };
  if (typeof json === 'boolean') return { boolValue: json };
  if (Array.isArray(json)) return { listValue: { values: json.map(toValue) } };
  if (typeof json !== 'object' || json === null) return { nullValue: 0 };
  return {
    structValue: { fields: Object.fromEntries(Object.entries(json).map(([key, value]) => [key, toValue(value)])) },
  };
}

function endOf(text: string): string {
  if (text.length <= MAX_TEXT_BYTES && Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  const end = Buffer.from(text.slice(-MAX_TEXT_BYTES)).subarray(-MAX_TEXT_BYTES).toString('utf8');
  return `[the beginning is cut]\n${end}`;
}
