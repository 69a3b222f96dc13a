import { expect } from 'vitest';
import type { ErrorBody, RawAnswer } from './rest-client.ts';

export const json = <T>(answer: RawAnswer) => JSON.parse(answer.body.toString()) as T;

export function expectError(answer: RawAnswer, status: number, code: number, message: RegExp | string = /./): void {
  const body = json<ErrorBody>(answer);
  expect([answer.status, body.code, Array.isArray(body.details)]).toEqual([status, code, true]);
  expect(Object.keys(body).sort()).toEqual(['code', 'details', 'message']);
  expect(body.message).toMatch(message);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
}
