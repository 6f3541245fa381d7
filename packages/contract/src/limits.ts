/** The largest size of each stored field, in bytes: of the text itself, or of the JSON of any other value. */
const KB = 1024;
const MB = 1024 * KB;

export const limits = {
  meta: 64 * KB,
  query: 256 * KB,
  pivotItems: 64 * KB,
  theme: 64 * KB,
  dashboard: 1024 * KB,
  /** A dashboard of the kind `APP`. */
  appDashboard: 5120 * KB,
  userSettings: 64 * KB,
  templateVariables: 64 * KB,
  envValue: 32 * KB,
  /** The number of variables of a deployment. */
  envVariables: 500,
  /** The security context of an environment token. */
  tokenContext: 16 * KB,
  /** The number of token configs of the account. */
  oidcTokenConfigs: 50,
  /** The claims that a token config adds. */
  customClaims: 4 * KB,
  /** `manifest.json` or `catalog.json` of a dbt project, before it is compressed. */
  dbtFile: 64 * MB,
  /** The number of webhooks of the account. */
  webhooks: 20,
  /** The number of notifications of a dashboard. */
  notificationsOfDashboard: 100,
  /** The number of recipients of a notification. */
  recipients: 5000,
  /** The number of reports in a workbook. */
  reportsInWorkbook: 10_000,
  /** The number of spreadsheets that a report can be placed in. */
  placements: 50,
} as const;

/** A number of bytes, for people. */
export const sizeText = (bytes: number) =>
  bytes >= MB ? `${rounded(bytes / MB)} MB` : `${rounded(bytes / KB)} KB`;
const rounded = (amount: number) => Math.round(amount * 10) / 10;
