/** Tables that only this domain writes to. */
export const tables = ['deployment_log_lines'] as const;
