import { QueryError } from '@oriel/semantic';
import { describe, expect, test } from 'vitest';
import { EngineError, type EngineErrorCode } from '../../engines/engine.ts';
import { ApiError } from '../../platform/errors.ts';
import { toApiError } from './errors.ts';

const HIDDEN = { showsSource: false, isSql: false };

describe('the words of an error of the data source', () => {
  const told = (code: EngineErrorCode, how: Partial<typeof HIDDEN> = {}) =>
    (toApiError(new EngineError(code, 'The table secret_name is gone.'), { ...HIDDEN, ...how }) as ApiError)
      .message;

  test.each<EngineErrorCode>([
    'query_invalid',
    'query_refused',
    'value_invalid',
    'source_unavailable',
    'credential_refused',
    'query_failed',
  ])('are told only to who may read the model: %s', (code) => {
    expect(told(code, { showsSource: true })).toContain('secret_name');
    for (const isSql of [false, true]) expect(told(code, { isSql })).not.toContain('secret_name');
  });

  test.each<EngineErrorCode>([
    'timed_out',
    'query_too_large',
    'result_too_large',
    'busy',
    'too_many_at_once',
  ])('are told to everybody if they are our own: %s', (code) => {
    expect(told(code)).toContain('secret_name');
  });

  test('are replaced by what is wrong with their SQL for who has written it', () => {
    expect(told('value_invalid', { isSql: true })).toBe('A value does not have the type that the SQL needs.');
    expect(told('value_invalid', { isSql: true })).not.toBe(told('value_invalid'));
  });
});

test('a credential of the data source that is refused is no fault of the caller', () => {
  const error = new EngineError('credential_refused', 'wrong password');
  expect(toApiError(error, HIDDEN)).toMatchObject({ code: 'source_unavailable', cause: error });
});

test('a wrong query is told with its places', () => {
  const issues = [{ path: 'limit', message: 'must be more' }];
  expect(toApiError(new QueryError('invalid_query', issues), HIDDEN)).toMatchObject({
    code: 'invalid_query',
    message: 'limit: must be more',
    issues,
  });
});

test('any other error stays what it is', () => {
  const refusal = new ApiError('busy', { message: 'Others go first.', retryAfterSeconds: 7 });
  for (const error of [refusal, new TypeError('a fault of ours')])
    expect(toApiError(error, HIDDEN)).toBe(error);
});
