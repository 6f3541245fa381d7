/**
 * Fails to compile if a published type means something else than the type that the contract gives to it. It is compiled
 * by the test of the packages, because the published types must be built first.
 */

import type { ErrorCode, MergeConflict } from '@oriel/contract';
import type {
  OrielClient as Published,
  ErrorCode as PublishedCode,
  MergeConflict as PublishedConflict,
} from '../dist/index.js';
import type { OrielClient } from '../src/index.ts';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Calls<T> = { [Id in keyof T]: T[Id] extends (...given: never) => unknown ? Id : never }[keyof T];

/**
 * Operations whose published type is wider on purpose: the schema takes any JSON, and the contract says which JSON
 * makes sense.
 */
type Wider = 'upsertUserAttributeValue';

type Different<Ours, Theirs> = {
  [Id in keyof Ours]: Id extends keyof Theirs
    ? Ours[Id] extends (...given: infer A) => infer R
      ? Theirs[Id] extends (...given: infer B) => infer S
        ? Same<A, B> extends true
          ? Same<R, S> extends true
            ? never
            : [Id, 'reply']
          : [Id, 'arguments']
        : [Id, 'missing']
      : never
    : [Id, 'missing'];
}[keyof Ours];

/** The first type must be `never`; if not, the error names what differs. */
const check = <T extends never>(): T[] => [];
check<Exclude<Different<OrielClient, Published>, [Wider, 'arguments']>>();
check<Different<OrielClient['iterate'], Published['iterate']>>();
check<Exclude<keyof Published['iterate'], keyof OrielClient['iterate']>>();
check<Exclude<Different<OrielClient['withHeaders'], Published['withHeaders']>, [Wider, 'arguments']>>();
check<Exclude<Calls<Published>, Calls<OrielClient>>>();
const same: [Same<ErrorCode, PublishedCode>, Same<MergeConflict, PublishedConflict>] = [true, true];
void same;
