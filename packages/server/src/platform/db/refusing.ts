import type { ErrorCode } from '@oriel/contract';
import { ApiError } from '../errors.ts';
import { violatedConstraint } from './database.ts';

/** By the name of a constraint or unique index: the code of the error, or what makes it. */
export type Refusals = Record<string, ErrorCode | (() => ApiError)>;

/**
 * For `.catch`: a statement that violates one of these constraints ends in the error that callers know. Every other
 * error stays what it is.
 */
export const refusing =
  (refusals: Refusals) =>
  (error: unknown): never => {
    const constraint = violatedConstraint(error);
    const refusal = constraint !== undefined && Object.hasOwn(refusals, constraint) && refusals[constraint];
    if (!refusal) throw error;
    throw typeof refusal === 'function' ? refusal() : new ApiError(refusal, { cause: error });
  };
