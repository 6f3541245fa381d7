import type { ErrorCode } from '@oriel/contract';
import { ApiError } from '../errors.ts';
import { violatedConstraint } from './database.ts';

/** The error code, or a function that makes the error, by the name of a constraint or unique index. */
export type Refusals = Record<string, ErrorCode | (() => ApiError)>;

/**
 * Used with `.catch`. Turns the violation of one of these constraints into its API error. Throws every other error
 * unchanged.
 */
export const refusing =
  (refusals: Refusals) =>
  (error: unknown): never => {
    const constraint = violatedConstraint(error);
    const refusal = constraint !== undefined && Object.hasOwn(refusals, constraint) && refusals[constraint];
    if (!refusal) throw error;
    throw typeof refusal === 'function' ? refusal() : new ApiError(refusal, { cause: error });
  };
