/** Why a recipient gets nothing because they, or a condition, decided it. The owner is not told of these. */
export const SKIP_REASONS = {
  unsubscribed: 'They have unsubscribed.',
  metBefore: 'The condition was met before, and still is.',
  notMet: 'The condition is not met.',
};
