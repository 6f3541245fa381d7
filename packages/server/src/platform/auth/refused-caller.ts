import { ApiError } from '../errors.ts';
import type { IdentifiedActor } from './actor.ts';

/** The refusal of a caller whose credential is valid, but whose request may have been made by another site. */
export class RefusedCallerError extends ApiError {
  readonly actor: IdentifiedActor;

  constructor(actor: IdentifiedActor, refusal: ApiError) {
    super(refusal.code, { message: refusal.message });
    this.actor = actor;
  }
}
