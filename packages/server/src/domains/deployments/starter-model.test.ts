import { compileModel } from '@oriel/semantic';
import { expect, test } from 'vitest';
import { STARTER_MODEL } from './starter-model.ts';

test('the model of a new deployment builds without errors and warnings', () => {
  const compiled = compileModel(STARTER_MODEL);
  expect(compiled).toMatchObject({ errors: [], warnings: [], cubesCount: 1 });
});
