/** Tables that only this domain writes to. */
export const tables = ['report_counts', 'report_placements', 'report_views', 'reports'] as const;
