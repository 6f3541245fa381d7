import { compileModel } from '@oriel/semantic';
import { expect, test } from 'vitest';
import { STARTER_MODEL } from './starter-model.ts';

test('the model of a new deployment builds without errors, and warns only that it is closed to embed viewers', () => {
  const compiled = compileModel(STARTER_MODEL);
  const warnings = [{ code: 'no_access_policy' }];
  expect(compiled).toMatchObject({ errors: [], warnings, cubesCount: 1 });
});
