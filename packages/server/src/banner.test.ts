import { expect, test } from 'vitest';
import { auditVerifiedBanner } from './banner.ts';

const verification = {
  problem: undefined,
  entries: 0,
  unsealed: 3,
  droppedMonths: [],
  sealedSince: undefined,
  newestSeal: undefined,
};

test('a log without seals is not said to be sealed since a time', () => {
  const text = auditVerifiedBanner(verification);
  expect(text).toMatch(/^ {2}Sealed +no entries yet$/m);
  expect(text).toMatch(/^ {2}Not sealed yet +3 entries/m);
});

test('a log with seals says since when, and shows the newest seal', () => {
  const sealed = { ...verification, entries: 7, sealedSince: '2026-03-01T00:00:00Z', newestSeal: '812:9f' };
  const text = auditVerifiedBanner(sealed);
  expect(text).toMatch(/^ {2}Sealed +7 entries, since 2026-03-01T00:00:00Z$/m);
  expect(text).toContain('  812:9f');
});
