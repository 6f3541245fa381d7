/** How much a stored field takes, in bytes: of a text as it stands, of anything else its JSON. */
const KB = 1024;

export const limits = {
  meta: 64 * KB,
  query: 256 * KB,
  pivotItems: 64 * KB,
  theme: 64 * KB,
  dashboard: 1024 * KB,
  /** Of a dashboard of the kind `APP`. */
  appDashboard: 5120 * KB,
  userSettings: 64 * KB,
  /** How many spreadsheets a report can be placed in. */
  placements: 50,
} as const;
