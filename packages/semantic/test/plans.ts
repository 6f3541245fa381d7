/** Short ways to plan queries for models of a few lines. */
import { expect } from 'vitest';
import {
  compileModel,
  type DialectName,
  type Model,
  type Plan,
  planQuery,
  QueryError,
  type Viewer,
} from '../src/index.ts';

export const NOW = new Date('2024-04-02T10:15:30Z');

export const somebody: Viewer = {
  groups: [],
  tenantGroups: [],
  roles: [],
  userAttributes: {},
  securityContext: {},
  seesUnguarded: true,
};

export function modelOf(text: string): Model {
  const { model, errors } = compileModel(new Map([['model/test.yml', text]]));
  expect(errors).toEqual([]);
  return model!;
}

export const planOf = (
  model: Model,
  query: object,
  viewer = somebody,
  dialect: DialectName = 'duckdb',
): Plan => planQuery(model, query, viewer, { dialect, now: NOW }).plans[0]!;

/** What is wrong with a query. */
export function errorOf(model: Model, query: unknown, viewer = somebody): QueryError {
  try {
    planQuery(model, query, viewer, { dialect: 'duckdb', now: NOW });
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error(`There is nothing wrong with ${JSON.stringify(query)}.`);
}
