import { expect, test } from 'vitest';
import { warningsOf } from './rules.ts';

test.each([
  ['https://analytics.example.com', true],
  ['https://example.com:8443', true],
  ['https://8.8.8.8', true],
  ['http://analytics.example.com', false],
  ['http://127.0.0.1:4000', false],
  ['https://127.0.0.1', false],
  ['https://10.1.2.3', false],
  ['https://[::1]:4000', false],
  ['https://localhost', false],
  ['https://oriel', false],
  ['https://oriel.local', false],
  ['https://oriel.corp.internal', false],
])('whether clouds can fetch the keys from %s: %s', (publicUrl, isReachable) => {
  expect(warningsOf(publicUrl)).toHaveLength(isReachable ? 0 : 1);
});
