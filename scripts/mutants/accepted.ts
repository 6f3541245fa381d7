/** Mutants that survive because they change nothing that anybody could notice. */
export const accepted: { file: string; text: string; why: string }[] = [
  {
    file: 'packages/server/src/domains/api-keys/routes.ts',
    text: 'expiresAt !== null',
    why: 'no time is parsed from null, and what is not a number is not in the past',
  },
];
