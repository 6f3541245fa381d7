/** Tables that only this domain writes to. */
export const tables = [
  'git_installations',
  'git_connections',
  'git_remote_heads',
  'git_deliveries',
  'git_former_connections',
] as const;
