/** The largest size of each stored field, in bytes: of the text itself, or of the JSON of any other value. */
const KB = 1024;

export const limits = {
  meta: 64 * KB,
  query: 256 * KB,
  pivotItems: 64 * KB,
  theme: 64 * KB,
  dashboard: 1024 * KB,
  /** For a dashboard of the kind `APP`. */
  appDashboard: 5120 * KB,
  userSettings: 64 * KB,
  /** The number of spreadsheets that a report can be placed in. */
  placements: 50,
} as const;
