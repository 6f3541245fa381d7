/**
 * Limits the failed attempts of an address twice: those at one subject, such as a user or a token, and those at all
 * subjects together. Many people may share an address, so a program that fails at one subject again and again must not
 * use up the attempts of the others.
 */
import { createAddressLimit } from './attempt-limit.ts';

export interface FailureLimits {
  perSubject: number;
  perAddress: number;
  perMs: number;
  message?: string;
}

export interface CountedAttempt {
  /**
   * Names the subject, which may be known only after a look-up. Throws a 429 after too many failures. An attempt that is
   * refused here does not count for the address.
   */
  at(subject: string): void;
  /** Removes the attempt from the counts, to be called unless it failed. */
  giveBack(): void;
}

export interface FailureLimit {
  /** Counts an attempt before its outcome is known. Throws a 429 after too many failures of the address. */
  begin(ip: string): CountedAttempt;
}

export function createFailureLimit({ perSubject, perAddress, perMs, message }: FailureLimits): FailureLimit {
  const ofSubject = createAddressLimit({ max: perSubject, perMs, message });
  const ofAddress = createAddressLimit({ max: perAddress, perMs, message });
  return {
    begin(ip) {
      let counted = [ofAddress.begin(ip)];
      const giveBack = () => {
        for (const remove of counted) remove();
        counted = [];
      };
      return {
        at(subject) {
          try {
            counted.push(ofSubject.begin(ip, subject));
          } catch (refusal) {
            giveBack();
            throw refusal;
          }
        },
        giveBack,
      };
    },
  };
}
